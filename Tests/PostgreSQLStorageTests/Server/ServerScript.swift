#if PostgreSQL
import TestSupport

/// A shell script that starts a server in a temporary folder, obeys words, and removes both when its input ends, which
/// it does when the process of the tests ends in any way.
final class ServerScript: Sendable {
    struct DidNotStart: Error { let said: [String] }

    let folder: String

    private let process: SpawnedProcess

    /// Starts the script, and waits until it writes `started`.
    init(_ script: String, _ arguments: (_ programs: String, _ folder: String) -> [String]) async throws {
        guard let programs = PostgreSQLPrograms.found else { throw DidNotStart(said: ["no programs"]) }
        folder = try programs.makeFolder()
        let shell = programs.shell(script, arguments(programs.folder, folder))
        process = try SpawnedProcess(shell.executable, shell.arguments)
        try await wait(for: "started")
    }

    /// Writes a word, and waits for the reply.
    func perform(_ word: String, until reply: String) async throws {
        try process.write("\(word)\n")
        try await wait(for: reply)
    }

    /// Stops and removes the server.
    func finish() async {
        try? process.finishInput()
        _ = await process.end()
    }

    private func wait(for reply: String) async throws {
        var said: [String] = []
        for await line in process.lines {
            if line == reply { return }
            said.append(line)
        }
        throw DidNotStart(said: said)
    }
}
#endif
