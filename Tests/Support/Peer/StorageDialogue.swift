import AuthInterface
import AuthTesting
import Foundation

@testable import Storage

/// Runs the commands of the standard input, one on each line, and writes the result of each.
struct StorageDialogue {
    var store: any SharedTokenStore
    let folder: URL
    let makeStore: () -> any SharedTokenStore

    mutating func run() async {
        while let line = readLine() {
            do {
                StandardIO.write(try await response(to: line))
            } catch {
                StoragePeer.write(error)
            }
        }
    }

    /// Runs a command, and returns its finding, or `done`.
    private mutating func response(to line: String) async throws -> String {
        switch line {
        case "load": return try await store.load().map { "\($0.generation)" } ?? "none"
        case "save": return "\(try await store.saveNext())"
        case "end":
            try await store.update { found in
                guard case .success(.active(let bundle)) = found else { return nil }
                return .tombstone(SessionTombstone(session: bundle.session, reason: .byUser, date: Date()))
            }
        case "reason":
            switch try await store.read() {
            case .empty: return "empty"
            case .active: return "active"
            case .tombstone(let tombstone): return "\(tombstone.reason)"
            }
        case "fill":
            // Until nothing fits, not even a small file.
            let full = folder.deletingLastPathComponent().appendingPathComponent("full")
            let number = open(full.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            while write(number, "x", 1) == 1 {}
            close(number)
            return "\(errno == ENOSPC)"
        case "lease":
            await (try await store.lease(waitingAtMost: .zero)).release()
            return "leased"
        case "restart": store = makeStore()
        case "mount", "mount small", "unmount":
            try MemoryDisk(mountPoint: folder.deletingLastPathComponent()).perform(line)
        case "watch":
            let disk = MemoryDisk(mountPoint: folder.deletingLastPathComponent())
            try disk.perform("mount alone")
            try await store.save(.large(0))
            var reports = store.changes.makeAsyncIterator()
            await reports.next()
            try disk.perform("unmount now")
            while await reports.next() != nil {}
            return "ended"
        case "await-session":
            var reports = store.changes.makeAsyncIterator()
            StandardIO.write("watching")
            while try await store.load() == nil, await reports.next() != nil {}
            return try await store.load().map { "\($0.generation)" } ?? "ended"
        case "overwrite":
            try await store.save(TokenBundle(accessToken: "access-1", refreshToken: nil, generation: 100))
        case "delete": try await store.delete()
        case "noted":
            return try await FileSessionJournal.test(in: folder).read().pending == nil ? "empty" : "noted"
        #if os(Linux)
        case "contract":
            try await checkContract()
            return "kept"
        case "load-six": return await loadSixAccounts()
        // Begins with the name of another account, and a zero byte.
        case "load-cut": return await Self.loadCode(of: "default\0b", locks: folder)
        case "busy-accounts": return try await useManyAccounts()
        case "store-later": try Self.spoil(with: Self.later)
        case "has-later": return "\(try Self.contents("default") == Self.later)"
        case "iterate": try iterateMainContext()
        #endif
        default: return "unknown command \(line)"
        }
        return "done"
    }

    #if os(Linux)
    /// A session of a later version of the format.
    private static let later = Data(#"{"format":"latchkey-tokens","version":1000}"#.utf8)

    private func checkContract() async throws {
        let folder = folder
        let fresh = { SecretServiceTokenStore.test(UUID().uuidString, locks: folder) }
        let reopen: @Sendable (SecretServiceTokenStore) -> SecretServiceTokenStore = { store in
            .test(store.account, locks: folder)
        }
        try await TokenStoreContract.check(reopen: reopen, makeEmptyStore: fresh)
        try await SharedTokenStoreContract.check(
            reopen: reopen, corrupt: { try Self.spoil($0.account) }, contents: { try Self.contents($0.account) },
            makeEmptyStore: fresh)
    }

    /// Loads the tokens of an account.
    ///
    /// - Returns: The code of the error; otherwise what was found.
    private static func loadCode(of account: String, locks: URL) async -> String {
        do {
            let bundle = try await SecretServiceTokenStore.test(account, locks: locks).load()
            return bundle.map { "\($0.generation)" } ?? "none"
        } catch {
            return (error as? TokenStoreError)?.code.rawValue ?? "\(error)"
        }
    }

    /// Loads the tokens of six accounts at once.
    ///
    /// - Returns: The codes of the errors, and the seconds it took.
    private func loadSixAccounts() async -> String {
        let start = ContinuousClock.now
        let codes = await withTaskGroup(of: String.self) { group in
            for number in 1...6 {
                group.addTask { [folder] in await Self.loadCode(of: "account-\(number)", locks: folder) }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        return "\(codes.sorted().joined(separator: ",")) after \((ContinuousClock.now - start) / .seconds(1))"
    }

    /// Reads and updates eight accounts at once, thirty times each.
    ///
    /// - Returns: The generations that are stored at the end.
    private func useManyAccounts() async throws -> String {
        let stores = (1...8).map { SecretServiceTokenStore.test("busy-\($0)", locks: folder) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores + stores {
                group.addTask {
                    for _ in 1...15 {
                        try await store.update { found in
                            let last = try? found.get().bundle?.generation
                            return .active(.large((last ?? 0) + 1))
                        }
                        _ = try await store.read()
                    }
                }
            }
            try await group.waitForAll()
        }
        var generations: Set<Int> = []
        for store in stores { generations.insert(try await store.load()?.generation ?? 0) }
        return generations.sorted().map(String.init).joined(separator: ",")
    }

    /// Replaces what the keyring has by something that is not a session.
    private static func spoil(_ account: String = "default", with content: Data = Data("garbage".utf8)) throws {
        guard let library = LibSecret.installed else { return }
        let account = KeyringAccount(application: "latchkey-tests", account: account)
        try KeyringCall(library, limit: .seconds(600)).store(content, as: account)
    }

    /// What the keyring has for an account, as bytes.
    private static func contents(_ account: String) throws -> Data {
        guard let library = LibSecret.installed else { return Data() }
        let account = KeyringAccount(application: "latchkey-tests", account: account)
        let items = try KeyringCall(library, limit: .seconds(600)).items(of: account)
        return Data(items.compactMap(\.secret).joined())
    }

    /// Runs the main loop of GLib, as a GTK application does, so that it handles the end of the bus. The thread accepts
    /// SIGTERM, which threads of Dispatch block.
    private func iterateMainContext() throws {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        typealias Iteration = @convention(c) (_ context: UnsafeMutableRawPointer?, _ mayBlock: Int32) -> Int32
        let iterate: Iteration? = try SharedLibrary("libsecret-1.so.0")?.function("g_main_context_iteration")
        while let iterate, iterate(nil, 0) != 0 {}
    }
    #endif
}

extension FileSessionJournal {
    /// A journal that may be in a folder, or in another one that is preferred.
    static func test(in folder: URL) -> FileSessionJournal {
        let parent = folder.deletingLastPathComponent()
        let folders = [folder.appendingPathExtension("preferred"), folder]
        return FileSessionJournal(storeName: "store", account: "ada") {
            folders.map { JournalLocation(folder: $0, anchor: parent) }
        }
    }
}

#if os(Linux)
extension SecretServiceTokenStore {
    static func test(_ account: String = "default", locks: URL) -> SecretServiceTokenStore {
        SecretServiceTokenStore(
            application: "latchkey-tests", account: account, lockFolder: locks,
            callLimit: .seconds(Int(ProcessInfo.processInfo.environment["CALL_LIMIT"] ?? "") ?? 600))
    }
}
#endif
