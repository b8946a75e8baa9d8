#if PostgreSQL
import Foundation
import ProcessTesting

/// A process that is spoken to in lines. It sees its input end when the test's process does, however that ends.
final class ChildProcess: Sendable {
    private let process: SpawnedProcess

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - hear: Given each line it says, and `nil` after the last one.
    /// - Throws: `SpawnedProcess.NotStarted` when there is no such program.
    init(_ executable: String, _ arguments: [String], hear: @escaping @Sendable (String?) -> Void) throws {
        process = try SpawnedProcess(executable, arguments, environment: ProcessInfo.processInfo.environment)
        Task { [lines = process.lines] in
            for await line in lines { hear(line) }
            hear(nil)
        }
    }

    func say(_ line: String) throws {
        try process.say("\(line)\n")
    }

    /// Ends what it hears, and waits until it has ended itself.
    func finish() async {
        try? process.finishInput()
        _ = await process.end()
    }

    /// Ends it at once, wherever it is.
    func kill() {
        process.kill()
    }
}
#endif
