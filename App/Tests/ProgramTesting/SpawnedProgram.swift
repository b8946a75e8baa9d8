package import Foundation

/// A program in a process of its own: the lines it prints, and its result.
///
/// It repeats a part of `SpawnedProcess`, which only the root package's tests can use: as a product it would become a
/// part of what ships. It uses `posix_spawn`, because Foundation's `Process` has crashed while the same process held a
/// thousand connections. All blocking calls have threads of their own: the threads of tasks are few, and serve the
/// servers of all other tests too.
package final class SpawnedProgram: Sendable {
    /// How a process ended: by a signal, or by itself with a status.
    package enum End: Sendable, Equatable {
        case signal(Int32)
        case status(Int32)
    }

    /// What a process printed until it ended, and how it ended.
    package struct Result: Sendable {
        package let end: End
        package let output: String
        package let errors: String

        /// The exit status; -1 when a signal ended the process.
        package var status: Int32 { if case .status(let status) = end { status } else { -1 } }
    }

    /// The lines on standard output. One loop at a time can read them.
    package let lines: AsyncStream<String>

    /// The process.
    package let identifier: pid_t

    private let completion: Task<Result, Never>

    /// Starts a program with an empty standard input.
    ///
    /// - Parameters:
    ///   - program: The executable.
    ///   - arguments: Its arguments.
    ///   - environment: Its complete environment.
    /// - Throws: `POSIXError` when the program cannot be started.
    package init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
        let pipes = (output: Pipe(), errors: Pipe())
        let identifier = try Self.spawn(
            [program.path] + arguments,
            environment,
            output: pipes.output.fileHandleForWriting.fileDescriptor,
            errors: pipes.errors.fileHandleForWriting.fileDescriptor
        )
        for pipe in [pipes.output, pipes.errors] { try pipe.fileHandleForWriting.close() }
        self.identifier = identifier
        let line: AsyncStream<String>.Continuation
        (lines, line) = AsyncStream.makeStream()
        let output = Self.text(of: pipes.output, lines: line)
        let errors = Self.text(of: pipes.errors, lines: nil)
        let end = Self.end(of: identifier)
        completion = Task {
            let texts = await (output: output.value, errors: errors.value)
            return Result(end: await end.value, output: texts.output, errors: texts.errors)
        }
    }

    /// Waits until the process has ended.
    package var result: Result {
        get async { await completion.value }
    }

    /// Waits until the program has printed a line, or has closed its standard output.
    ///
    /// - Parameter line: The line; `nil` for any.
    package func waitForLine(_ line: String? = nil) async {
        for await printed in lines where line == nil || printed == line { return }
    }

    /// Sends the process a signal: by default the one that ends it at once.
    package func kill(_ signal: Int32 = SIGKILL) {
        Foundation.kill(identifier, signal)
    }

    /// An executable of this package, which the build puts beside the running one or beside the test bundle.
    package static func executable(_ name: String) -> URL {
        let running = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        let folders = [Bundle.main.bundleURL, running.deletingLastPathComponent()]
            .flatMap { [$0, $0.deletingLastPathComponent()] }
        let candidates = folders.map { $0.appendingPathComponent(name, isDirectory: false) }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
    }

    /// Reads a pipe to its end.
    private static func text(of pipe: Pipe, lines: AsyncStream<String>.Continuation?) -> Task<String, Never> {
        result { done in
            var data = Data()
            var lineStart = data.startIndex
            while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
                data += piece
                while let lineEnd = data[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                    lines?.yield(String(decoding: data[lineStart..<lineEnd], as: UTF8.self))
                    lineStart = lineEnd + 1
                }
            }
            lines?.finish()
            done(String(decoding: data, as: UTF8.self))
        }
    }

    private static func end(of identifier: pid_t) -> Task<End, Never> {
        result { done in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            done(signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal))
        }
    }

    /// The result of blocking work, on a thread of its own.
    private static func result<Value: Sendable>(
        of work: @escaping @Sendable (_ done: (Value) -> Void) -> Void
    ) -> Task<Value, Never> {
        Task {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { work { continuation.resume(returning: $0) } }
            }
        }
    }

    private static func spawn(
        _ words: [String],
        _ environment: [String: String],
        output: Int32,
        errors: Int32
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
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        #if canImport(Glibc)
        // The sockets of tests, and the pipes of programs that were started at the same time. To close a number that is
        // not open is no error.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) }
        for number in 3...max(1_024, open?.max() ?? 0) { posix_spawn_file_actions_addclose(&actions, number) }
        #endif
        // The threads of tasks block all signals. A child inherits that, and could not be asked to end.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier: pid_t = 0
        let failure = posix_spawn(&identifier, words[0], &actions, &attributes, &arguments, &variables)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .ENOENT) }
        return identifier
    }
}
