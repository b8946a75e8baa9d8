// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of CryptoKit that Modules/OAuth2Flows and Modules/Storage call. See the stub of Darwin for what such a stub
// shows.

public struct SHA256 {
    public struct Digest: Sequence { public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } } }

    public static func hash(data: some DataProtocol) -> Digest { Digest() }
}
public typealias SHA384 = SHA256
public typealias SHA512 = SHA256

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public init(rawRepresentation: some DataProtocol) throws {}
            public var rawRepresentation: Data { Data() }
        }

        public struct PublicKey: Sendable {
            init() {}
            public init(x963Representation: some ContiguousBytes) throws {}
            public var rawRepresentation: Data { Data() }

            public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool { false }
        }

        public struct PrivateKey: Sendable {
            public init() {}
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public init(pemRepresentation: String) throws {}
            public var rawRepresentation: Data { Data() }
            public var publicKey: PublicKey { PublicKey() }
            public func signature(for data: some DataProtocol) throws -> ECDSASignature {
                try ECDSASignature(rawRepresentation: Data())
            }
        }
    }
}

public enum P384 {
    public enum Signing {
        public struct ECDSASignature: Sendable { public init(rawRepresentation: some DataProtocol) throws {} }

        public struct PublicKey: Sendable {
            public init(x963Representation: some ContiguousBytes) throws {}

            public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool { false }
        }
    }
}

public typealias P521 = P384

public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init(rawRepresentation: some ContiguousBytes) throws {}

            public func isValidSignature(_ signature: some DataProtocol, for data: some DataProtocol) -> Bool { false }
        }
    }
}

public enum SecureEnclave {
    public static var isAvailable: Bool { false }

    public enum P256 {
        public enum Signing {
            public struct PrivateKey: Sendable {
                public init() throws {}
                public init(dataRepresentation: Data) throws {}
                public var dataRepresentation: Data { Data() }
                public var publicKey: CryptoKit.P256.Signing.PublicKey { CryptoKit.P256.Signing.PrivateKey().publicKey }
                public func signature(for data: some DataProtocol) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    try CryptoKit.P256.Signing.ECDSASignature(rawRepresentation: Data())
                }
            }
        }
    }
}
