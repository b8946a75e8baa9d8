#if canImport(CryptoKit) || Crypto
import AuthInterface
import Foundation

#if canImport(CryptoKit)
import CryptoKit
import Security
#else
import Crypto
import _CryptoExtras
#endif

extension JSONWebSignature {
    /// Whether one of the keys, which are for its algorithm, has signed the token.
    func isSigned(by keys: [VerificationKey]) -> Bool {
        keys.contains { $0.isValid(signature, for: signedContent, by: algorithm) }
    }
}

extension IDTokenClaims {
    /// Whether a token was issued beside an access token (OpenID Connect Core §3.1.3.6): the half of its digest, by the
    /// hash of any of the algorithms. Without a hash it does not say.
    func isBeside(_ accessToken: String) -> Bool {
        let text = Data(accessToken.utf8)
        let digests = [Data(SHA256.hash(data: text)), Data(SHA384.hash(data: text)), Data(SHA512.hash(data: text))]
        return accessTokenHash.map { digests.map { $0.prefix($0.count / 2).base64URL }.contains($0) } ?? true
    }
}

extension VerificationKey {
    /// Whether a signature of a content is by this key, which is for the algorithm.
    func isValid(_ signature: Data, for content: Data, by algorithm: SignatureAlgorithm) -> Bool {
        switch self.content {
        case .point(let curve, let x, let y):
            return Self.isValid(signature, for: content, at: [0x04] + x + y, of: curve)
        case .rsa:
            return isValidRSA(signature, for: content, by: algorithm)
        case .ed25519(let bytes):
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            return key?.isValidSignature(signature, for: content) ?? false
        }
    }

    /// RFC 7518 §3.4: two numbers of the length of a coordinate, and the hash of the curve. The point is as X9.63
    /// writes it: uncompressed.
    private static func isValid(_ signature: Data, for content: Data, at point: Data, of curve: Curve) -> Bool {
        switch curve {
        case .p256:
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            let key = try? P256.Signing.PublicKey(x963Representation: point)
            return signature.flatMap { key?.isValidSignature($0, for: content) } ?? false
        case .p384:
            let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            let key = try? P384.Signing.PublicKey(x963Representation: point)
            return signature.flatMap { key?.isValidSignature($0, for: content) } ?? false
        case .p521:
            let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature)
            let key = try? P521.Signing.PublicKey(x963Representation: point)
            return signature.flatMap { key?.isValidSignature($0, for: content) } ?? false
        }
    }

    /// RFC 7518 §3.3 and §3.5: RSASSA-PKCS1-v1_5 and RSASSA-PSS, whose salt has the length of the hash.
    private func isValidRSA(_ signature: Data, for content: Data, by algorithm: SignatureAlgorithm) -> Bool {
        guard let rsaPublicKey else { return false }
        #if canImport(CryptoKit)
        let attributes = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        let rule: SecKeyAlgorithm? =
            switch algorithm {
            case .rs256: .rsaSignatureMessagePKCS1v15SHA256
            case .rs384: .rsaSignatureMessagePKCS1v15SHA384
            case .rs512: .rsaSignatureMessagePKCS1v15SHA512
            case .ps256: .rsaSignatureMessagePSSSHA256
            case .ps384: .rsaSignatureMessagePSSSHA384
            case .ps512: .rsaSignatureMessagePSSSHA512
            case .es256, .es384, .es512, .edDSA: nil
            }
        guard let rule, let key = SecKeyCreateWithData(rsaPublicKey as CFData, attributes as CFDictionary, nil) else {
            return false
        }
        return SecKeyVerifySignature(key, rule, content as CFData, signature as CFData, nil)
        #else
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: rsaPublicKey) else { return false }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        let hash: any Digest
        switch algorithm {
        case .rs256, .ps256: hash = SHA256.hash(data: content)
        case .rs384, .ps384: hash = SHA384.hash(data: content)
        case .rs512, .ps512: hash = SHA512.hash(data: content)
        case .es256, .es384, .es512, .edDSA: return false
        }
        let isPSS = [.ps256, .ps384, .ps512].contains(algorithm)
        return key.isValidSignature(signature, for: hash, padding: isPSS ? .PSS : .insecurePKCS1v1_5)
        #endif
    }
}
#endif
