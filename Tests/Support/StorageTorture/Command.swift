import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Storage

/// What the process can be told to do.
enum Command: String {
    /// Saves one generation after the other, and says the number of each that is saved.
    case save

    /// Saves the next generation. A NUMBER is the most bytes a file may have: the disk is full.
    case saveOnce = "save-once"

    /// The same, whatever is stored.
    case overwriteOnce = "overwrite-once"

    /// Saves the next generation as a user without rights, if it can become one.
    case saveAsNobody = "save-as-nobody"

    /// Takes the lease, starts a process that lives on, says its number, and keeps the lease.
    case hold

    /// Starts an update that ends with the standard input, and says so.
    case holdWrite = "hold-write"

    /// Takes the lease NUMBER times, for 20 ms each, notes each time in a file, and says how long it waited at most.
    case contend

    /// Waits for the lease, and says when the wait has begun and when it has ended.
    case wait

    /// Opens NUMBER streams of changes and drops them, and says what is open before, meanwhile and after.
    case streams

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
        case .overwriteOnce:
            limitFileSize(to: number)
            try await store.save(.torture(1))
            StorageTorture.say("saved")
        case .saveAsNobody:
            becomeNobody()
            guard try await store.load() != nil else { return StorageTorture.say("the load answered none") }
            StorageTorture.say("\(try await saveNext(in: store))")
        case .hold:
            let lease = try await store.lease(waitingAtMost: .zero)
            StorageTorture.say("\(try startHeir())")
            _ = FileHandle.standardInput.readDataToEndOfFile()
            await lease.release()
        case .holdWrite:
            try await store.update { found in
                StorageTorture.say("holding")
                _ = FileHandle.standardInput.readDataToEndOfFile()
                return try? found.get()
            }
            StorageTorture.say("done")
        case .contend: try await contend(for: store, folder, number)
        case .wait:
            StorageTorture.say("waiting")
            await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
            StorageTorture.say("leased")
        case .streams: try await openStreams(of: store, number)
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

    private func contend(for store: any SharedTokenStore, _ folder: URL, _ rounds: Int) async throws {
        let clock = SystemTimeSource()
        var longest = Duration.zero
        for _ in 0..<rounds {
            let start = clock.uptime
            let lease = try await store.lease(waitingAtMost: .seconds(3_600))
            longest = max(longest, clock.uptime - start)
            let number = open(folder.path + ".grants", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            let line = Array("\(getpid())\n".utf8)
            _ = write(number, line, line.count)
            close(number)
            try await clock.sleep(until: clock.uptime + .milliseconds(20))
            await lease.release()
        }
        StorageTorture.say(
            "\(longest.components.seconds * 1_000 + longest.components.attoseconds / 1_000_000_000_000_000)")
    }

    private func openStreams(of store: any SharedTokenStore, _ count: Int) async throws {
        try await store.save(.torture(0))
        var reports = store.changes.makeAsyncIterator()
        try await store.save(.torture(1))
        await reports.next()
        say("before")
        do {
            let streams = (0..<count).map { _ in store.changes }
            withExtendedLifetime(streams) { say("meanwhile") }
        }
        say("after")
    }

    /// Says how many descriptors, descriptors of inotify, watches and threads this process has.
    private func say(_ moment: String) {
        let folder = "/proc/self/fd"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let watchers = files.filter { file in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)"))?.contains("inotify")
                == true
        }
        let watches = watchers.map { watcher in
            let info = (try? String(contentsOfFile: "/proc/self/fdinfo/\(watcher)", encoding: .utf8)) ?? ""
            return info.split(separator: "\n").count { $0.hasPrefix("inotify") }
        }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
        StorageTorture.say("\(moment) \(files.count) \(watchers.count) \(watches.reduce(0, +)) \(threads)")
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
