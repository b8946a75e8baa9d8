import Foundation

/// The server of a measurement, in a process of its own.
final class Server: Sendable {
    let url: URL
    /// `nil`: it ran before.
    private let program: Child?

    /// Starts it, unless the environment names one by its port: under callgrind, Foundation starts no process.
    init() throws {
        let running = ProcessInfo.processInfo.environment["BENCH_PORT"]
        program = running == nil ? try Child("BenchServer") : nil
        guard let port = running ?? program?.readLine(), let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw BenchError("the server did not start")
        }
        self.url = url
    }
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
