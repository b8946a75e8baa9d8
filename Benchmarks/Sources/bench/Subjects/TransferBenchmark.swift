import AsyncHTTPClient
import CountingMalloc
import Foundation
import NIOCore
import NIOHTTP1
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A gigabyte in each direction.
enum TransferBenchmark: Subject {
    static let name = "transfers"
    static let summary =
        "A gigabyte up and down in pieces of 64 KB, server in another process: time as a ratio to the library below, "
        + "which takes and gives `Data` too, and for URLSession writes a body to a file first, as ours does on Linux; "
        + "and the most memory that was allocated at once."

    private static let gigabyte = 1_024 * 1_024 * 1_024
    private static let piece = Data(count: 64 * 1_024)

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        let bare = HTTPClient()
        let client = AsyncHTTPClientTransport()
        let session = URLSessionTransport()
        let down = server.url.appendingPathComponent("bytes").appendingPathComponent("\(gigabyte)")
        let comparisons: [(String, [Work])] = [
            ("AsyncHTTPClient/down", downloads(down, with: bare, client)),
            (
                "URLSession/down",
                [
                    Work(name: "bare") { _ in
                        let count = try await BareSession().run { $0.dataTask(with: down) }
                        guard count == gigabyte else { throw BenchError("\(count) bytes arrived") }
                    },
                    Work(name: "ours") { _ in try await receive(down, over: session) },
                ]
            ),
            ("AsyncHTTPClient/up", uploads(server.url, with: bare, client)),
            (
                "URLSession/up",
                [
                    Work(name: "bare") { _ in try await send(to: server.url, with: BareSession()) },
                    Work(name: "ours") { _ in try await send(to: server.url, over: session) },
                ]
            ),
        ]
        var found: [Measurement] = []
        for (kind, works) in comparisons {
            let costs = try await Comparison(works: works, count: 1, rounds: 3).costs()
            let peak = try await Usage.allocations { try await works[1].run(1) }.peak
            found += [
                Measurement(
                    name: "\(name)/\(kind)", metric: .wallRatio, value: .ratio(costs[1].wall, to: costs[0].wall),
                    goal: 1.05),
                Measurement(
                    name: "\(name)/\(kind)", metric: .processorRatio,
                    value: .ratio(costs[1].processor, to: costs[0].processor)),
                Measurement(
                    name: "\(name)/\(kind)", metric: .megabytes, value: Spread(Double(peak) / 1_048_576), goal: 16),
            ]
        }
        try await bare.shutdown()
        return found
    }

    /// For a profiler: `perf record bench repeat "transfers/AsyncHTTPClient/down/ours" 3`.
    static func repeated() throws -> [(work: Work, count: Int)] {
        let server = try Server()
        let down = server.url.appendingPathComponent("bytes").appendingPathComponent("\(gigabyte)")
        let (bare, client) = (HTTPClient(), AsyncHTTPClientTransport())
        let directions = [
            ("down", downloads(down, with: bare, client)), ("up", uploads(server.url, with: bare, client)),
        ]
        return directions.flatMap { direction, works in
            works.map { work in
                let repeated = Work(name: "\(name)/AsyncHTTPClient/\(direction)/\(work.name)") { count in
                    defer { withExtendedLifetime(server) {} }
                    for _ in 0..<count { try await work.run(1) }
                }
                return (repeated, 1)
            }
        }
    }

    private static func downloads(
        _ url: URL, with bare: HTTPClient, _ client: AsyncHTTPClientTransport
    ) -> [Work] {
        [
            Work(name: "bare") { _ in try await receive(url, with: bare) },
            Work(name: "ours") { _ in try await receive(url, over: client) },
        ]
    }

    private static func uploads(
        _ url: URL, with bare: HTTPClient, _ client: AsyncHTTPClientTransport
    ) -> [Work] {
        [
            Work(name: "bare") { _ in try await send(to: url, with: bare) },
            Work(name: "ours") { _ in try await send(to: url, over: client) },
        ]
    }

    private static func receive(_ url: URL, with client: HTTPClient) async throws {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(600))
        var count = 0
        for try await piece in response.body { count += piece.withUnsafeReadableBytes { Data($0) }.count }
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
        let pieces = AsyncStream(unfolding: Pieces(gigabyte / piece.count, piece).next)
        request.body = .stream(pieces.map { ByteBuffer(bytes: $0) }, length: .known(Int64(gigabyte)))
        _ = try await client.execute(request, timeout: .seconds(600)).body.collect(upTo: 1_024)
    }

    private static func send(to url: URL, with session: BareSession) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("bench-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        for _ in 0..<gigabyte / piece.count { try handle.write(contentsOf: piece) }
        try handle.close()
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        _ = try await session.run { [request] in $0.uploadTask(with: request, fromFile: file) }
    }

    /// URLSession with a delegate that counts the bytes of a response.
    private final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // called on one queue
        private var count = 0
        private var end: CheckedContinuation<Void, any Error>?

        func run(_ make: (URLSession) -> URLSessionTask) async throws -> Int {
            let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            try await withCheckedThrowingContinuation { continuation in
                end = continuation
                make(session).resume()
            }
            return count
        }

        func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { count += data.count }

        func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end?.resume(with: error.map { .failure($0) } ?? .success(()))
        }
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
