#if PostgreSQL
import Foundation
import ProcessTesting

/// A process whose input and output are lines. Its input ends with the test's process.
final class ChildProcess: Sendable {
    private let process: SpawnedProcess

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - receive: Is called with each line of its output, and with `nil` after the last one.
    /// - Throws: `SpawnedProcess.NotStarted` when there is no such program.
    init(_ executable: String, _ arguments: [String], receive: @escaping @Sendable (String?) -> Void) throws {
        process = try SpawnedProcess(executable, arguments, environment: ProcessInfo.processInfo.environment)
        Task { [lines = process.lines] in
            for await line in lines { receive(line) }
            receive(nil)
        }
    }

    func write(_ line: String) throws {
        try process.write("\(line)\n")
    }

    /// Ends its input, and waits until it has ended.
    func finish() async {
        try? process.finishInput()
        _ = await process.end()
    }

    /// Kills it.
    func kill() {
        process.kill()
    }
}
#endif
