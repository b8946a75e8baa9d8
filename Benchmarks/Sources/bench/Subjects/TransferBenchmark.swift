import AsyncHTTPClient
import CountingMalloc
import Foundation
import NIOCore
import NIOHTTP1
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession

/// A gigabyte in each direction.
enum TransferBenchmark: Subject {
    static let name = "transfers"
    static let summary =
        "A gigabyte up and down in pieces of 64 KB, server in another process: time as a ratio to AsyncHTTPClient "
        + "alone, and the most memory that was allocated at once."

    private static let gigabyte = 1_024 * 1_024 * 1_024
    private static let piece = Data(count: 64 * 1_024)

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        let bare = HTTPClient()
        let client = AsyncHTTPClientTransport()
        let session = URLSessionTransport()
        let down = server.url.appendingPathComponent("bytes").appendingPathComponent("\(gigabyte)")
        let directions: [(String, [Work])] = [
            (
                "down",
                [
                    Work(name: "bare") { _ in try await receive(down, with: bare) },
                    Work(name: "AsyncHTTPClient") { _ in try await receive(down, over: client) },
                    Work(name: "URLSession") { _ in try await receive(down, over: session) },
                ]
            ),
            (
                "up",
                [
                    Work(name: "bare") { _ in try await send(to: server.url, with: bare) },
                    Work(name: "AsyncHTTPClient") { _ in try await send(to: server.url, over: client) },
                    Work(name: "URLSession") { _ in try await send(to: server.url, over: session) },
                ]
            ),
        ]
        var found: [Measurement] = []
        for (direction, works) in directions {
            let costs = try await Comparison(works: works, count: 1, rounds: 3).costs()
            for (work, cost) in zip(works, costs).dropFirst() {
                let peak = try await Usage.allocations { try await work.run(1) }.peak
                let megabytes = Double(peak) / 1_048_576
                found += [
                    Measurement(
                        name: "\(name)/\(work.name)/\(direction)", metric: .wallRatio,
                        value: .ratio(cost.wall, to: costs[0].wall), goal: 1.05),
                    Measurement(
                        name: "\(name)/\(work.name)/\(direction)", metric: .megabytes, value: Spread(megabytes),
                        goal: 16),
                ]
            }
        }
        try await bare.shutdown()
        return found
    }

    private static func receive(_ url: URL, with client: HTTPClient) async throws {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(600))
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        guard count == gigabyte else { throw BenchError("\(count) bytes arrived") }
    }

    private static func receive(_ url: URL, over transport: some HTTPTransport) async throws {
        let request = HTTPTransportRequest(
            head: HTTPRequestHead(method: .get, url: url), body: .none, idleTimeout: .seconds(600))
        var count = 0
        for try await piece in try await transport.perform(request).body { count += piece.count }
        guard count == gigabyte else { throw BenchError("\(count) bytes arrived") }
    }

    private static func send(to url: URL, with client: HTTPClient) async throws {
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .PUT
        let buffer = ByteBuffer(repeating: 0, count: piece.count)
        let pieces = AsyncStream(unfolding: Pieces(gigabyte / piece.count, buffer).next)
        request.body = .stream(pieces, length: .known(Int64(gigabyte)))
        _ = try await client.execute(request, timeout: .seconds(600)).body.collect(upTo: 1_024)
    }

    private static func send(to url: URL, over transport: some HTTPTransport) async throws {
        let body = HTTPBody(length: Int64(gigabyte)) {
            AsyncStream(unfolding: Pieces(gigabyte / piece.count, piece).next)
        }
        let request = HTTPTransportRequest(
            head: HTTPRequestHead(method: .put, url: url), body: body, idleTimeout: .seconds(600))
        for try await _ in try await transport.perform(request).body {}
    }

    /// The same piece that many times.
    private final class Pieces<Piece: Sendable>: @unchecked Sendable {  // one reader
        private var rest: Int
        private let piece: Piece

        init(_ count: Int, _ piece: Piece) { (rest, self.piece) = (count, piece) }

        func next() -> Piece? {
            rest -= 1
            return rest < 0 ? nil : piece
        }
    }
}
