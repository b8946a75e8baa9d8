#if PostgreSQL
import AuthInterface
import Foundation
import Storage

/// A cipher for tests: no secrecy at all, but what it seals looks different, and opens only where it belongs.
struct ScramblingCipher: TokenCipher {
    struct Refusal: Error {}

    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data {
        Data(associatedData.base64EncodedString().utf8) + [0] + plaintext.map { $0 ^ 0x5A }
    }

    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data {
        let label = Data(associatedData.base64EncodedString().utf8) + [0]
        guard sealed.starts(with: label) else { throw Refusal() }
        return Data(sealed.dropFirst(label.count).map { $0 ^ 0x5A })
    }
}

/// A cipher whose key service fails.
struct FailingCipher: TokenCipher {
    let error: any Error

    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data { throw error }
    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data { throw error }
}
#endif
