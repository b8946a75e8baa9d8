import AuthInterface
import Foundation
import Storage

/// What the process can be told to do.
enum Command: String {
    /// Saves one generation after the other, and says the number of each that is saved.
    case save

    /// Saves the next generation. A NUMBER is the most bytes a file may have: the disk is full.
    case saveOnce = "save-once"

    /// Saves the next generation as a user without rights, if it can become one.
    case saveAsNobody = "save-as-nobody"

    /// Takes the lease, starts a process that lives on, says its number, and keeps the lease.
    case hold

    /// Refreshes NUMBER times, each time under a lease, with a server that takes a refresh token once.
    case rotate

    /// Does what it is told on standard input.
    case talk

    func run(on makeStore: @escaping () -> any SharedTokenStore, _ folder: URL, _ number: Int) async throws {
        let store = makeStore()
        switch self {
        case .save:
            while true { StorageTorture.say("\(try await saveNext(in: store))") }
        case .saveOnce:
            limitFileSize(to: number)
            StorageTorture.say("\(try await saveNext(in: store))")
        case .saveAsNobody:
            becomeNobody()
            guard try await store.load() != nil else { return StorageTorture.say("the load answered none") }
            StorageTorture.say("\(try await saveNext(in: store))")
        case .hold:
            let lease = try await store.lease(waitingAtMost: .zero)
            StorageTorture.say("\(try startHeir())")
            _ = FileHandle.standardInput.readDataToEndOfFile()
            await lease.release()
        case .rotate:
            try await RotatingServer(folder: folder).refresh(store, times: number)
        case .talk:
            var conversation = Conversation(store: store, folder: folder, makeStore: makeStore)
            await conversation.run()
        }
    }

    private func saveNext(in store: any SharedTokenStore) async throws -> Int {
        let next = try await store.load().map { $0.generation + 1 } ?? 0
        try await store.save(.torture(next))
        return next
    }

    private func limitFileSize(to bytes: Int) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
        setrlimit(RLIMIT_FSIZE, &limit)
        #endif
    }

    private func becomeNobody() {
        guard geteuid() == 0 else { return }
        setgid(65_534)
        setuid(65_534)
    }

    /// Starts a process that inherits all that is inherited, and outlives this one.
    private func startHeir() throws -> pid_t {
        let heir = Process()
        heir.executableURL = URL(fileURLWithPath: "/bin/sleep")
        heir.arguments = ["60"]
        heir.standardOutput = FileHandle.nullDevice
        try heir.run()
        return heir.processIdentifier
    }
}

extension TokenBundle {
    /// A bundle of some 10 KB that shows its generation all over.
    static func torture(_ generation: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(generation).", count: 1_500),
            refreshToken: String(repeating: "r\(generation).", count: 1_500),
            session: SessionID(rawValue: "torture"),
            generation: generation
        )
    }
}
