import Foundation

/// The server of a measurement, in a process of its own.
final class Server: Sendable {
    let url: URL
    private let process = Process()
    private let input = Pipe()

    /// Starts it, unless the environment names one by its port: under callgrind, Foundation starts no process.
    init() throws {
        let port = ProcessInfo.processInfo.environment["BENCH_PORT"]
        if let running = port.flatMap({ URL(string: "http://127.0.0.1:\($0)") }) {
            url = running
            return
        }
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = program.appendingPathComponent("BenchServer")
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: "http://127.0.0.1:\(line.trimmingCharacters(in: .whitespacesAndNewlines))") else {
            throw BenchError("the server did not start")
        }
        self.url = url
    }

    deinit { if process.isRunning { process.terminate() } }
}

/// What the server responds with.
struct Article: Decodable, Sendable {
    let id: Int
    let title: String
    let text: String

    /// The article with a number of bytes as JSON, for what has no server.
    static func json(_ length: Int) -> Data {
        let (start, end) = ("{\"id\":7,\"title\":\"An article\",\"text\":\"", "\"}")
        return Data((start + String(repeating: "x", count: length - start.count - end.count) + end).utf8)
    }
}
