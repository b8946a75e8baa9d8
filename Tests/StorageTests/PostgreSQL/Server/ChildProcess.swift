#if PostgreSQL
import AuthTesting
import Foundation

/// A process that is spoken to in lines. It sees its input end when the test's process does, however that ends.
///
/// Foundation's `Process` lets a child inherit what belongs to another one started at the same time, and does not
/// notice the end of either before both have ended: a server that lives as long as the tests would hang them. A child
/// started here gets its input and output and nothing else.
final class ChildProcess: Sendable {
    private let number: pid_t
    private let input: FileHandle
    private let ended = Gate()

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - hear: Given each line it says, and `nil` after the last one.
    /// - Throws: `POSIXError` when there is no such program.
    init(_ executable: String, _ arguments: [String], hear: @escaping @Sendable (String?) -> Void) throws {
        signal(SIGPIPE, SIG_IGN)  // a process that has died is not written to, and that is all
        let (itsInput, ourInput) = try Self.pipe()
        let (ourOutput, itsOutput) = try Self.pipe()
        number = try Self.spawn([executable] + arguments, input: itsInput, output: itsOutput)
        input = ourInput
        // A thread of its own: it blocks until the process says something or ends.
        Thread.detachNewThread { [number, ended] in
            Self.read(ourOutput, hear)
            while waitpid(number, nil, 0) < 0, errno == EINTR {}
            ended.open()
        }
    }

    func say(_ line: String) throws {
        try input.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends what it hears, and waits until it has ended itself.
    func finish() async {
        try? input.close()
        await ended.pass()
    }

    /// Ends it at once, wherever it is.
    func kill() {
        Foundation.kill(number, SIGKILL)
    }

    /// The folder of the executables that are built beside the tests.
    static var buildFolder: URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        return bundle?.deletingLastPathComponent() ?? Bundle.main.bundleURL
    }

    private static func read(_ output: FileHandle, _ hear: (String?) -> Void) {
        var rest = Data()
        while case let data = output.availableData, !data.isEmpty {
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                hear(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                rest = Data(rest[(end + 1)...])
            }
        }
        hear(nil)
    }

    private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var numbers: [Int32] = [0, 0]
        guard Foundation.pipe(&numbers) == 0 else { throw POSIXError(.EMFILE) }
        // What others start is not to keep these open.
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        return (
            FileHandle(fileDescriptor: numbers[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: numbers[1], closeOnDealloc: true)
        )
    }

    private static func spawn(_ words: [String], input: FileHandle, output: FileHandle) throws -> pid_t {
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
        posix_spawn_file_actions_adddup2(&actions, input.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, output.fileDescriptor, 1)
        #if canImport(Glibc)
        // One that is not open does no harm.
        for number in 3..<Int32(1_024) { posix_spawn_file_actions_addclose(&actions, number) }
        #else
        posix_spawn_file_actions_addinherit_np(&actions, 2)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        let arguments = words.map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var number: pid_t = 0
        let failure = posix_spawn(&number, words[0], &actions, &attributes, arguments, environment)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .ENOENT) }
        return number
    }
}
#endif
