import Foundation
import Testing

/// The real executable, run once.
struct CommandLineRun {
    let status: Int32
    let output: String
    let errors: String

    /// Both streams, to search for what must not be there.
    var everything: String { output + errors }

    /// What went wrong, if it is one line.
    var oneError: String? {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[1].isEmpty ? String(lines[0]) : nil
    }

    /// The one object on standard output.
    func object() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return try #require(value as? [String: Any])
    }
}

/// A home of its own for runs of the executable, removed when the last reference goes.
final class Home: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "articles-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    }

    /// What the executable takes for the system's temporary folder.
    var temporary: URL { folder.appending(path: "tmp") }

    /// What is there now.
    func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path)
    }

    deinit {
        // A folder that stays behind is no reason to fail a test.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Puts a file there.
    func file(_ name: String, _ content: Data) throws -> String {
        let url = folder.appending(path: name)
        try content.write(to: url)
        return url.path
    }

    /// The one token file, however it is named.
    func tokenFile() throws -> URL {
        let tokens = folder.appending(path: "state/articles/tokens")
        let files = try FileManager.default.contentsOfDirectory(at: tokens, includingPropertiesForKeys: nil)
        return try #require(files.first { $0.pathExtension == "json" })
    }

    /// Runs the executable that was built beside the tests.
    func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> CommandLineRun {
        let process = try process(arguments, environment)
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        async let outputText = Self.text(output)
        async let errorText = Self.text(errors)
        try process.run()
        let (outputs, errorLines) = await (outputText, errorText)
        await Self.onAThread { process.waitUntilExit() }
        return CommandLineRun(status: process.terminationStatus, output: outputs, errors: errorLines)
    }

    /// Runs the executable and interrupts it as soon as it has said something.
    ///
    /// - Returns: Its exit status; -1 when a signal ended it.
    func interruptWhenItSpeaks(_ arguments: [String]) async throws -> Int32 {
        let process = try process(arguments, [:])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        await Self.onAThread { _ = output.fileHandleForReading.availableData }
        process.interrupt()
        _ = await Self.text(output)
        await Self.onAThread { process.waitUntilExit() }
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    private func process(_ arguments: [String], _ environment: [String: String]) throws -> Process {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        process.environment = environment.merging([
            "HOME": folder.path, "XDG_STATE_HOME": folder.appending(path: "state").path,
            "XDG_CONFIG_HOME": folder.appending(path: "config").path, "TMPDIR": temporary.path,
        ]) { own, _ in own }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Reads a pipe to its end.
    private static func text(_ pipe: Pipe) async -> String {
        await onAThread { String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
    }

    /// Does what blocks on a thread of its own. The threads that tasks run on, a global queue's among them, are few and
    /// shared: a dozen programs waited for there keep the servers of all other tests waiting too.
    private static func onAThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }

    private static func executable() throws -> URL {
        let tests = try #require(CommandLine.arguments.first)
        let places = [Bundle.main.bundleURL, URL(filePath: tests).deletingLastPathComponent()]
            .flatMap { [$0, $0.deletingLastPathComponent()] }
        let found = places.map { $0.appending(path: "articles") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path) && !$0.hasDirectoryPath
        }
        return try #require(found, "the executable is built beside the tests")
    }
}
