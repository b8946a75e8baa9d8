import AuthInterface
import AuthTesting
import Foundation

@testable import Storage

/// Does what it is told on standard input, line by line, and says after each what came of it.
struct Conversation {
    var store: any SharedTokenStore
    let folder: URL
    let makeStore: () -> any SharedTokenStore

    mutating func run() async {
        while let line = readLine() {
            do {
                StorageTorture.say(try await answer(to: line))
            } catch {
                StorageTorture.say(error)
            }
        }
    }

    private mutating func answer(to line: String) async throws -> String {
        switch line {
        case "load": return try await store.load().map { "\($0.generation)" } ?? "none"
        case "save":
            let next = try await store.load().map { $0.generation + 1 } ?? 0
            try await store.save(.torture(next))
            return "\(next)"
        case "end":
            try await store.update { found in
                guard case .success(.active(let bundle)) = found else { return nil }
                return .ended(EndedSession(session: bundle.session, reason: .byUser, date: Date()))
            }
            return "done"
        case "lease":
            await (try await store.lease(waitingAtMost: .zero)).release()
            return "leased"
        case "restart":
            store = makeStore()
            return "done"
        case "mount", "unmount":
            try Disk(at: folder.deletingLastPathComponent()).perform(line)
            return "done"
        case "overwrite":
            try await store.save(TokenBundle(accessToken: "access-1", refreshToken: nil, generation: 100))
            return "done"
        case "delete":
            try await store.delete()
            return "done"
        case "contract":
            try await checkContract()
            return "kept"
        case "spoil":
            try spoil()
            return "done"
        case "iterate":
            try iterateMainContext()
            return "done"
        default: return "what is \(line)?"
        }
    }

    #if os(Linux)
    private func checkContract() async throws {
        let folder = folder
        let fresh = { SecretServiceTokenStore.torture(UUID().uuidString, locks: folder) }
        let reopen: @Sendable (SecretServiceTokenStore) -> SecretServiceTokenStore = { store in
            .torture(store.account, locks: folder)
        }
        try await TokenStoreContract.check(reopen: reopen, makeEmptyStore: fresh)
        try await SharedTokenStoreContract.check(reopen: reopen, makeEmptyStore: fresh)
    }

    /// Puts something into the keyring that is no bundle.
    private func spoil() throws {
        guard let library = LibSecret.installed else { return }
        let account = KeyringAccount(application: "latchkey-tests", account: "default")
        try KeyringCall(library, limit: .seconds(10)).store(Data("garbage".utf8), as: account)
    }

    /// Does what the main loop of a GTK application does: GLib gives notice of what happened to the bus. A thread of
    /// such an application can be ended by a signal, which those of Dispatch cannot.
    private func iterateMainContext() throws {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        typealias Iteration = @convention(c) (_ context: UnsafeMutableRawPointer?, _ mayBlock: Int32) -> Int32
        let iterate: Iteration? = try SharedLibrary("libsecret-1.so.0")?.function("g_main_context_iteration")
        while let iterate, iterate(nil, 0) != 0 {}
    }
    #else
    private func checkContract() async throws {}
    private func spoil() throws {}
    private func iterateMainContext() throws {}
    #endif
}

#if os(Linux)
extension SecretServiceTokenStore {
    static func torture(_ account: String = "default", locks: URL) -> SecretServiceTokenStore {
        SecretServiceTokenStore(
            application: "latchkey-tests",
            account: account,
            lockFolder: locks,
            answerLimit: .seconds(2)
        )
    }
}
#endif
