package import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// A program in a process of its own: the lines it prints, and its result.
package final class SpawnedProgram: Sendable {
    /// What a process printed until it ended, and how it ended.
    package struct Result: Sendable {
        package let output: String
        package let errors: String

        /// The exit status; -1 when a signal ended the process.
        package let status: Int32

        /// The signal that ended the process; `nil` when it ended by itself.
        package let signal: Int32?
    }

    /// The lines on standard output. One loop at a time can read them.
    package let lines: AsyncStream<String>

    package let identifier: Int32

    private let completion: Task<Result, Never>

    /// Starts a program with an empty standard input, and nothing else in its environment.
    package init(_ program: URL, _ arguments: [String], environment: [String: String]) async throws {
        let (lines, line) = AsyncStream<String>.makeStream()
        let (starts, start) = AsyncThrowingStream<Int32, any Error>.makeStream()
        let configuration = Configuration(
            executable: .path(FilePath(program.path)), arguments: Arguments(arguments),
            environment: .custom(
                Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) })))
        self.lines = lines
        completion = Task {
            defer { line.finish() }
            do {
                let run = try await Subprocess.run(
                    configuration, input: .none, output: .sequence, error: .string(limit: .max)
                ) { execution in
                    start.yield(execution.processIdentifier.value)
                    return try await Self.text(of: execution.standardOutput, lines: line)
                }
                let (output, errors) = (run.closureResult, run.standardError)
                switch run.terminationStatus {
                case .exited(let status): return Result(output: output, errors: errors, status: status, signal: nil)
                case .signaled(let signal): return Result(output: output, errors: errors, status: -1, signal: signal)
                }
            } catch {
                start.finish(throwing: error)
                return Result(output: "", errors: "\(error)", status: -1, signal: nil)
            }
        }
        guard let identifier = try await starts.first(where: { _ in true }) else { throw CancellationError() }
        self.identifier = identifier
    }

    /// Waits until the process has ended. It is ended with the task that waits.
    package var result: Result {
        get async {
            await withTaskCancellationHandler {
                await completion.value
            } onCancel: {
                completion.cancel()
            }
        }
    }

    /// Waits until the program has printed a line, `nil` for any, or has closed its standard output.
    package func waitForLine(_ line: String? = nil) async {
        for await printed in lines where line == nil || printed == line { return }
    }

    #if os(Linux)
    /// Waits until the process is stopped, by a signal of its own or of another process.
    ///
    /// - Throws: `CancellationError`, or what reading the state of the process throws: it has ended.
    package func waitUntilStopped() async throws {
        // The state follows the name, which has parentheses around it (proc(5)).
        let file = "/proc/\(identifier)/stat"
        try await poll { try String(contentsOfFile: file, encoding: .utf8).contains(") T ") }
    }
    #endif

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

    private static func text(
        of output: SubprocessOutputSequence, lines: AsyncStream<String>.Continuation
    ) async throws -> String {
        var data = Data()
        var lineStart = data.startIndex
        for try await piece in output {
            piece.withUnsafeBytes { data.append(contentsOf: $0) }
            while let lineEnd = data[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                lines.yield(String(decoding: data[lineStart..<lineEnd], as: UTF8.self))
                lineStart = lineEnd + 1
            }
        }
        return String(decoding: data, as: UTF8.self)
    }
}
