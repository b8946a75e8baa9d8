package import Foundation

/// Another process, with its standard input and output.
///
/// It is started with `posix_spawn` and inherits only its arguments and environment. Foundation's `Process` does not
/// end before its children do, lets a child inherit descriptors of another one that is started at the same time, and
/// has crashed when many were started at once.
package final class SpawnedProcess: Sendable {
    package enum End: Sendable, Equatable {
        case signal(Int32)
        case status(Int32)
    }

    package struct NotStarted: Error {
        package let path: String
        package let number: Int32
    }

    /// The lines of its standard output.
    package let lines: AsyncStream<String>

    package let identifier: pid_t

    /// The other end of its standard input. It is closed with this object.
    private let input: FileHandle
    private let outcome: Task<End?, Never>

    /// Processes are started one at a time: another child would inherit a pipe whose flags are not set yet.
    private static let starting: NSLock = {
        signal(SIGPIPE, SIG_IGN)  // a write to a process that has ended is an error
        return NSLock()
    }()

    /// Starts a program with all of an environment, by default that of this process.
    ///
    /// - Throws: ``NotStarted``.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let myOutput: Int32
        (identifier, input, myOutput) = try Self.starting.withLock {
            let (theirInput, myInput) = try Self.makePipe()
            let (myOutput, theirOutput) = try Self.makePipe()
            defer {
                close(theirInput)
                close(theirOutput)
            }
            let input = FileHandle(fileDescriptor: myInput, closeOnDealloc: true)
            let child = try Self.spawn(path, arguments, environment, input: theirInput, output: theirOutput)
            return (child, input, myOutput)
        }
        let (lines, continuation) = AsyncStream<String>.makeStream()
        self.lines = lines
        let (ends, ending) = AsyncStream<End>.makeStream()
        outcome = Task { await ends.first { _ in true } }
        // A thread of its own: reading blocks.
        Thread.detachNewThread { [identifier] in
            Self.readLines(from: myOutput, to: continuation)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            let signal = status & 0x7f
            continuation.finish()
            ending.yield(signal == 0 ? .status(status >> 8) : .signal(signal))
        }
    }

    package func write(_ text: String) throws { try input.write(contentsOf: Data(text.utf8)) }

    package func finishInput() throws { try input.close() }

    /// Sends it a signal, by default SIGKILL.
    package func kill(_ signal: Int32 = SIGKILL) { Foundation.kill(identifier, signal) }

    /// Stops it, and returns when all its threads have stopped. (The signal alone lets them run for a while.)
    package func stop() {
        kill(SIGSTOP)
        var information = siginfo_t()
        // WNOWAIT leaves its state to the thread that waits for its end.
        while waitid(P_PID, id_t(identifier), &information, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    }

    /// Waits until it has ended and no other process has its standard output open; `nil` when the task is cancelled.
    package func end() async -> End? {
        await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            outcome.cancel()
        }
    }

    /// Waits until it has ended, and returns the lines that were not read yet.
    package func remainingLines() async -> [String] {
        var all: [String] = []
        for await line in lines { all.append(line) }
        return all
    }

    /// The folder of the executables that are built with the tests.
    package static var buildFolder: URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        return bundle?.deletingLastPathComponent() ?? Bundle.main.bundleURL
    }

    /// The executable for the tests of several processes, with its kinds as first argument.
    package static var peer: String { buildFolder.appendingPathComponent("Peer").path }

    private static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NotStarted(path: "a pipe", number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], input: Int32, output: Int32
    ) throws -> pid_t {
        #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        #if canImport(Glibc)
        // Closing a descriptor that is not open does no harm.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) }
        for number in 3...max(1_024, open?.max() ?? 0) { posix_spawn_file_actions_addclose(&actions, number) }
        #else
        posix_spawn_file_actions_addinherit_np(&actions, 2)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var identifier: pid_t = 0
        let number = posix_spawn(&identifier, path, &actions, &attributes, &words, &variables)
        guard number == 0 else { throw NotStarted(path: path, number: number) }
        return identifier
    }

    private static func readLines(from descriptor: Int32, to lines: AsyncStream<String>.Continuation) {
        defer { close(descriptor) }
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                lines.yield(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
        }
    }
}
