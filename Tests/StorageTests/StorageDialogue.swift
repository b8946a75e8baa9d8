import Foundation
import TestSupport
import Testing

/// A process that uses a store and is sent one command after another.
final class StorageDialogue: Sendable {
    let process: SpawnedProcess

    init(_ process: SpawnedProcess) { self.process = process }

    /// Starts a process that uses the store of a folder, and whose home is another folder. The launcher is a program,
    /// and its arguments, that starts it.
    convenience init(
        _ folder: URL, home: String, _ variables: [String: String] = [:], through launcher: [String] = []
    ) throws {
        let environment = ProcessInfo.processInfo.environment
            .merging(["HOME": home, "XDG_STATE_HOME": ""]) { $1 }.merging(variables) { $1 }
        let command = launcher + [SpawnedProcess.peer, "storage", "dialogue", folder.path]
        self.init(try SpawnedProcess(command[0], Array(command.dropFirst()), environment: environment))
    }

    deinit { process.kill() }

    /// Sends a command, and waits for the response. `nil`: the process has ended.
    func send(_ command: String) async throws -> String? {
        try process.write(command + "\n")
        return await response()
    }

    func response() async -> String? { await process.lines.first { _ in true } }

    /// Sends commands one after another, each with the response that is expected.
    func expect(
        _ responses: KeyValuePairs<String, String>, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for (command, response) in responses {
            let actual = try await send(command)
            #expect(actual == response, "\(command)", sourceLocation: sourceLocation)
        }
    }

    /// Sends commands, each of which must be unavailable, with an error of some words.
    func expectUnavailable(
        _ commands: [String], beginning: String = "", containing words: String = ": ", ending: String = ""
    ) async throws {
        for command in commands {
            let response = try await send(command) ?? "the process has ended"
            #expect(
                response.hasPrefix("unavailable: \(beginning)") && response.contains(words)
                    && response.hasSuffix(ending), "\(command): \(response)")
        }
    }
}

extension SpawnedProcess {
    /// Starts a process that holds the lease of a folder, and has a child that lives until it is killed.
    static func holdingLease(of folder: URL) async throws -> (process: SpawnedProcess, child: pid_t) {
        let process = try SpawnedProcess(peer: "hold", folder)
        var lines = process.lines.makeAsyncIterator()
        return (process, try #require(await lines.next().flatMap { pid_t($0) }))
    }

    /// Starts a process that uses a store: `Peer storage COMMAND FOLDER NUMBER`.
    convenience init(
        peer command: String, _ folder: URL, _ number: Int = 0,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        try self.init(Self.peer, ["storage", command, folder.path, "\(number)"], environment: environment)
    }
}
