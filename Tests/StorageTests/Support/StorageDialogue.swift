import ProcessTesting

/// A process that uses a store and is sent one command after another.
final class StorageDialogue: Sendable {
    let process: SpawnedProcess

    init(_ process: SpawnedProcess) {
        self.process = process
    }

    deinit { process.kill() }

    /// Sends a command, and waits for the response. `nil`: the process has ended.
    func send(_ command: String) async throws -> String? {
        try process.write(command + "\n")
        return await response()
    }

    func response() async -> String? {
        await process.lines.first { _ in true }
    }
}
