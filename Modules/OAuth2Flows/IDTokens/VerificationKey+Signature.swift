#if canImport(CryptoKit) || Crypto
import Foundation

#if canImport(CryptoKit)
import CryptoKit
import Security
#else
import Crypto
import _CryptoExtras
#endif

extension VerificationKey {
    /// Whether a signature of a content is by this key.
    func isValid(_ signature: Data, for content: Data) -> Bool {
        switch self.content {
        case .p256: isValidP256(signature, for: content)
        case .rsa: isValidRSA(signature, for: content)
        }
    }

    /// RFC 7518 §3.4: the two numbers, 32 bytes each.
    private func isValidP256(_ signature: Data, for content: Data) -> Bool {
        guard let point, let key = try? P256.Signing.PublicKey(x963Representation: point),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: content)
    }

    /// RFC 7518 §3.3: RSASSA-PKCS1-v1_5 with SHA-256.
    private func isValidRSA(_ signature: Data, for content: Data) -> Bool {
        guard let rsaPublicKey else { return false }
        #if canImport(CryptoKit)
        let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        guard let key = SecKeyCreateWithData(rsaPublicKey as CFData, attributes as CFDictionary, nil) else {
            return false
        }
        return SecKeyVerifySignature(
            key, .rsaSignatureMessagePKCS1v15SHA256, content as CFData, signature as CFData, nil)
        #else
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: rsaPublicKey) else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return key.isValidSignature(signature, for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
        #endif
    }
}
#endif
