import Foundation

/// Another process, which is spoken to in lines. It ends when its input does.
final class Child: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts a program of this package, which is beside this one, or another one.
    init(_ program: String, _ arguments: [String] = []) throws {
        let here = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = URL(fileURLWithPath: program, relativeTo: here)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    deinit { process.terminate() }

    /// Waits for the next line, without its end; `nil` at the end of the output.
    func readLine() -> String? {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            guard byte != Data("\n".utf8) else { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
        return nil
    }

    func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends its input, and waits until it has ended.
    ///
    /// - Returns: What it has written since the last line that was read.
    /// - Throws: `BenchError` when it fails.
    @discardableResult
    func end() throws -> String {
        try input.fileHandleForWriting.close()
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchError("\(process.arguments ?? []) ended with status \(process.terminationStatus)")
        }
        return String(decoding: rest, as: UTF8.self)
    }
}
