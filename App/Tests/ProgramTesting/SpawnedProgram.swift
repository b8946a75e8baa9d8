package import Foundation

/// The real program, in a process of its own: what it says and how it ends.
///
/// It is started with `posix_spawn`: Foundation's `Process` has crashed while the same process held a thousand
/// connections. Whatever blocks has a thread of its own, because the threads that tasks run on are few and serve the
/// servers of all other tests too.
package final class SpawnedProgram: Sendable {
    /// How a process ended: by a signal, or by itself with a status.
    package enum End: Sendable, Equatable {
        case signal(Int32)
        case status(Int32)
    }

    /// What it says on standard output, as it comes.
    package let output: AsyncStream<Data>

    /// What it says on standard error, as it comes.
    package let errors: AsyncStream<Data>

    private let identifier: pid_t
    private let ending: Task<End, Never>

    /// Starts a program with nothing to read.
    ///
    /// - Parameters:
    ///   - program: The executable.
    ///   - arguments: Its arguments.
    ///   - environment: All of its environment.
    /// - Throws: `POSIXError` when there is no such program.
    package init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
        let (output, errors) = (Pipe(), Pipe())
        let identifier = try Self.spawn(
            [program.path] + arguments,
            environment,
            output: output.fileHandleForWriting.fileDescriptor,
            errors: errors.fileHandleForWriting.fileDescriptor
        )
        for pipe in [output, errors] { try pipe.fileHandleForWriting.close() }
        self.identifier = identifier
        self.output = Self.pieces(of: output)
        self.errors = Self.pieces(of: errors)
        let (ends, end) = AsyncStream.makeStream(of: End.self)
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            end.yield(signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal))
        }
        ending = Task { await ends.first { _ in true } ?? .status(-1) }
    }

    /// Waits until it has ended.
    package var end: End {
        get async { await ending.value }
    }

    /// Sends it a signal: by default the one that ends it at once, wherever it is.
    package func kill(_ signal: Int32 = SIGKILL) {
        Foundation.kill(identifier, signal)
    }

    /// All of a stream, as text.
    package static func text(_ pieces: AsyncStream<Data>) async -> String {
        String(decoding: await pieces.reduce(into: Data()) { $0 += $1 }, as: UTF8.self)
    }

    private static func pieces(of pipe: Pipe) -> AsyncStream<Data> {
        let (pieces, piece) = AsyncStream.makeStream(of: Data.self)
        Thread.detachNewThread {
            while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty { piece.yield(data) }
            piece.finish()
        }
        return pieces
    }

    private static func spawn(
        _ words: [String],
        _ environment: [String: String],
        output: Int32,
        errors: Int32
    ) throws -> pid_t {
        #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        #else
        var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        #if canImport(Glibc)
        // The pipes of programs that were started at the same time; one that is not open does no harm.
        for number in 3..<Int32(4_096) { posix_spawn_file_actions_addclose(&actions, number) }
        #endif
        #if canImport(Glibc)
        var attributes = posix_spawnattr_t()
        #else
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that tasks run on block all signals, and a child inherits that: it could not be asked to end.
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
