// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of CryptoKit that Modules/OAuth2Flows calls, so that it can be typechecked without an Apple SDK. It does
// nothing and is part of no product. It shows that our code and this stub agree, not that the stub and the framework
// do.

public struct SHA256 {
    public struct Digest: Sequence {
        public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
    }

    public static func hash(data: some DataProtocol) -> Digest { Digest() }
}

public enum P256 {
    public enum Signing {
        public struct PublicKey {
            public init(x963Representation: some ContiguousBytes) throws {}

            public func isValidSignature(_ signature: ECDSASignature, for data: some DataProtocol) -> Bool { false }
        }

        public struct ECDSASignature {
            public init(rawRepresentation: some DataProtocol) throws {}
        }
    }
}
