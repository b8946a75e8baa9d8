#if PostgreSQL
import AuthInterface
import ContractTesting
import ConcurrencyPrimitives
import Foundation
import Storage

/// A cipher for tests without secrecy. What it seals opens only with the same key and associated data.
struct ScramblingCipher: TokenCipher {
    struct Refusal: Error {}

    var key: UInt8 = 0x5A

    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data {
        label(associatedData) + plaintext.map { $0 ^ key }
    }

    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data {
        guard sealed.starts(with: label(associatedData)) else { throw Refusal() }
        return Data(sealed.dropFirst(label(associatedData).count).map { $0 ^ key })
    }

    private func label(_ associatedData: Data) -> Data {
        Data("\(key)/\(associatedData.base64EncodedString())/".utf8)
    }
}

struct FailingCipher: TokenCipher {
    private let error = TokenStoreError(.unavailable, reason: "no key service")

    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data { throw error }
    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data { throw error }
}

/// A cipher that does not encrypt, and seals when its gate is open.
struct GatedCipher: TokenCipher {
    let sealing = Gate()

    func seal(_ plaintext: Data, authenticating associatedData: Data) async throws -> Data {
        await sealing.pass()
        return plaintext
    }

    func open(_ sealed: Data, authenticating associatedData: Data) async throws -> Data { sealed }
}

/// The clocks of the system, with a count of the sleeps. None begins before a gate is open.
final class CountingClock: TimeSource {
    private let system = SystemTimeSource()
    private let count = Locked(0)
    private let resting: Gate?

    init(resting: Gate? = nil) { self.resting = resting }

    var uptime: Duration { system.uptime }
    var date: Date { system.date }
    var pauses: Int { count.withLock { $0 } }

    func sleep(until deadline: Duration) async throws {
        count.withLock { $0 += 1 }
        try await resting?.passUnlessCancelled()
        try await system.sleep(until: deadline)
    }
}
#endif
