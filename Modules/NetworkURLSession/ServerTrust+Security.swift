#if canImport(Security)
import CryptoKit
import Foundation
import NetworkCore
import NetworkExchange
import Security

extension ServerTrust {
    /// Whether a certificate is of a trusted authority, and its public key a pin where the host has pins.
    func accepts(_ trust: SecTrust, of host: String) -> Bool {
        if !authorities.isEmpty {
            let anchors = authorities.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard anchors.count == authorities.count,
                SecTrustSetAnchorCertificates(trust, anchors as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
            else { return false }
        }
        guard SecTrustEvaluateWithError(trust, nil) else { return false }
        guard let keys = pins.keys(of: host) else { return true }
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let certificate = chain.first,
            let key = Certificate.subjectPublicKeyInfo(of: Array(SecCertificateCopyData(certificate) as Data))
        else { return false }
        return keys.contains(Data(SHA256.hash(data: key)))
    }
}
#endif
