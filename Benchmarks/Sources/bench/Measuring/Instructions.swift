import Foundation

/// Counts the instructions of a piece of work with callgrind: they repeat, whatever else the machine does.
enum Instructions {
    /// - Parameters:
    ///   - name: The name of a work that `bench repeat` knows.
    ///   - count: How many repetitions are counted. As many are run before, and once more without them, to subtract
    ///     the start of the program.
    /// - Returns: The instructions of one repetition. `nil`: there is no callgrind.
    /// - Throws: `BenchError` when callgrind fails.
    static func perRepetition(of name: String, count: Int) throws -> Double? {
        guard let once = try total(name, count), let twice = try total(name, 2 * count) else { return nil }
        return Double(twice - once) / Double(count)
    }

    /// The environment variable of a process whose instructions are counted.
    static let isCounted = "BENCH_COUNTED"

    private static func total(_ name: String, _ count: Int) throws -> Int? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/valgrind")
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/valgrind") else { return nil }
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=/dev/null", CommandLine.arguments[0], "repeat", name, "\(count)",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([isCounted: "1"]) { $1 }
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0,
            let line = text.split(separator: "\n").first(where: { $0.contains("Collected") })
        else { throw BenchError("callgrind failed on '\(name)':\n\(text.suffix(2_000))") }
        return line.split(separator: ":").last.flatMap { Int($0.filter(\.isNumber)) }
    }
}
