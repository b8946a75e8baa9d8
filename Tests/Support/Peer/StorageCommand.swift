import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// What a ``StoragePeer`` does.
///
/// | command | what it does |
/// |---|---|
/// | `save` | saves one generation after another, and writes the number of each when it is saved |
/// | `save-once` | saves the next one; NUMBER is the size limit of files in bytes, which stands for a full disk |
/// | `save-unprivileged` | saves the next one as a user without rights, if it can become one |
/// | `hold` | takes the lease, starts a child that outlives this process, writes its number, and keeps the lease |
/// | `hold-write` | starts an update that ends with the standard input, and writes `holding` |
/// | `contend` | takes the lease NUMBER times for 20 ms, records each in a file, and writes its longest wait |
/// | `wait` | waits for the lease, and writes when the wait starts and when it ends |
/// | `streams` | opens NUMBER streams of changes and drops them; writes what is open before, meanwhile and after |
/// | `rotate` | refreshes NUMBER times under a lease, with a server that accepts a refresh token once |
/// | `dialogue` | runs the commands of its standard input, see ``StorageDialogue`` |
enum StorageCommand: String {
    case save, hold, contend, wait, streams, rotate, dialogue
    case saveOnce = "save-once"
    case saveUnprivileged = "save-unprivileged"
    case holdWrite = "hold-write"

    func run(on makeStore: @escaping () -> any SharedTokenStore, _ folder: URL, _ number: Int) async throws {
        let store = makeStore()
        switch self {
        case .save:
            while true { StandardIO.write("\(try await store.saveNext())") }
        case .saveOnce:
            limitFileSize(to: number)
            StandardIO.write("\(try await store.saveNext())")
        case .saveUnprivileged:
            dropPrivileges()
            guard try await store.load() != nil else { return StandardIO.write("the load returned none") }
            StandardIO.write("\(try await store.saveNext())")
        case .hold:
            let lease = try await store.lease(waitingAtMost: .zero)
            StandardIO.write("\(try startChild())")
            _ = FileHandle.standardInput.readDataToEndOfFile()
            await lease.release()
        case .holdWrite:
            try await store.update { found in
                StandardIO.write("holding")
                _ = FileHandle.standardInput.readDataToEndOfFile()
                return try? found.get()
            }
            StandardIO.write("done")
        case .contend: try await contend(for: store, folder, number)
        case .wait:
            StandardIO.write("waiting")
            await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
            StandardIO.write("leased")
        case .streams: try await openStreams(of: store, number)
        case .rotate:
            try await FolderTokenServer(folder: folder).refresh(store, times: number)
        case .dialogue:
            var dialogue = StorageDialogue(store: store, folder: folder, makeStore: makeStore)
            await dialogue.run()
        }
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
        StandardIO.write("\(Int(longest / .milliseconds(1)))")
    }

    private func openStreams(of store: any SharedTokenStore, _ count: Int) async throws {
        try await store.save(.large(0))
        var reports = store.changes.makeAsyncIterator()
        await reports.next()
        try await store.save(.large(1))
        await reports.next()
        writeCounts("before")
        do {
            let streams = (0..<count).map { _ in store.changes }
            // The first report comes when a stream is open.
            for stream in streams { for await _ in stream { break } }
            withExtendedLifetime(streams) { writeCounts("meanwhile") }
        }
        writeCounts("after")
    }

    /// Writes how many descriptors, inotify descriptors, watches and threads this process has.
    private func writeCounts(_ moment: String) {
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
        StandardIO.write("\(moment) \(files.count) \(watchers.count) \(watches.reduce(0, +)) \(threads)")
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

    private func dropPrivileges() {
        guard geteuid() == 0 else { return }
        setgid(65_534)
        setuid(65_534)
    }

    /// Starts a process that inherits every descriptor without `O_CLOEXEC`, and outlives this one.
    private func startChild() throws -> pid_t {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sleep")
        child.arguments = ["60"]
        child.standardOutput = FileHandle.nullDevice
        try child.run()
        return child.processIdentifier
    }
}
