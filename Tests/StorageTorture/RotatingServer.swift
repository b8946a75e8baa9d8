import AuthInterface
import Foundation
import Storage

/// An authorisation server made of files: it takes each refresh token once, and one refresh at a time.
///
/// `mkdir` is its transaction: of many processes that make a folder, one succeeds.
struct RotatingServer {
    let folder: URL

    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    func refresh(_ store: any SharedTokenStore, times count: Int) async throws {
        for _ in 0..<count {
            let lease = try await store.lease(waitingAtMost: .seconds(120))
            guard let old = try await lease.load() else { throw Refusal(description: "signed out") }
            let generation = try exchange(old)
            try await lease.save(.torture(generation))
            await lease.release()
        }
        StorageTorture.say("refreshed \(count)")
    }

    private func exchange(_ bundle: TokenBundle) throws -> Int {
        guard make("refreshing") else { throw Refusal(description: "two refreshes at once") }
        defer { rmdir(folder.appendingPathComponent("refreshing").path) }
        guard make("spent-\(bundle.generation)") else {
            throw Refusal(description: "refresh token \(bundle.generation) used again")
        }
        return bundle.generation + 1
    }

    private func make(_ name: String) -> Bool {
        mkdir(folder.appendingPathComponent(name).path, 0o700) == 0
    }
}
