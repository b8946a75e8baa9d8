import Foundation
import NetworkCore
import NetworkTransfers

/// Event streams and JSON lines, beside a plain scan for line feeds.
enum StreamBenchmark: Subject {
    static let name = "streams"
    static let summary =
        "4 MB of server-sent events, and of JSON lines, in pieces of 16 KB from a transport that responds at once: "
        + "throughput as a ratio to a plain loop that splits the same pieces at line feeds, and makes a string of each "
        + "line, or decodes it. MB/s are those of one processor; *line feeds* only counts them."

    private static let size = 4 * 1_024 * 1_024

    static func measure() async throws -> [Measurement] {
        var found: [Measurement] = []
        for stream in streams {
            let works = [stream.plain, stream.ours, stream.counting]
            let costs = try await Comparison(works: works, count: 4).costs()
            let speeds = costs.map { Spread($0.processor.map { Double(size) / 1_048_576 / ($0 / 1e6) }) }
            found += [
                Measurement(name: stream.counting.name, metric: .megabytesPerSecond, value: speeds[2]),
                Measurement(name: stream.plain.name, metric: .megabytesPerSecond, value: speeds[0]),
                Measurement(name: stream.ours.name, metric: .megabytesPerSecond, value: speeds[1]),
                Measurement(
                    name: stream.ours.name, metric: .speedRatio,
                    value: .ratio(costs[0].processor, to: costs[1].processor), goal: 0.5),
            ]
        }
        return found
    }

    /// For a profiler: `perf record bench repeat "streams/events of 100 B/parsed" 200`.
    static func repeated() -> [(work: Work, count: Int)] {
        streams.flatMap { [($0.plain, 1), ($0.ours, 1), ($0.counting, 1)] }
    }

    private static let streams = [("100 B", 100), ("4 KB", 4_096)].flatMap { label, length in
        [events(label, length), lines(label, length)]
    }

    private struct Stream: Sendable {
        let counting: Work
        let plain: Work
        let ours: Work

        /// A stream, with what plain code does with a line, and what reads it with the module.
        init(
            _ name: String, _ source: PieceTransport,
            line: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void,
            read: @escaping @Sendable () async throws -> Int
        ) {
            counting = Work(name: "\(name)/line feeds") { count in
                for _ in 0..<count {
                    var feeds = 0
                    for try await piece in source.body {
                        piece.withUnsafeBytes { bytes in for byte in bytes where byte == 0x0A { feeds += 1 } }
                    }
                    guard feeds == source.lines else { throw BenchError("\(feeds) line feeds") }
                }
            }
            plain = Work(name: "\(name)/plain") { count in
                for _ in 0..<count { try await split(source.body, line) }
            }
            ours = Work(name: "\(name)/parsed") { count in
                for _ in 0..<count {
                    let found = try await read()
                    guard found == source.values else { throw BenchError("\(found) values") }
                }
            }
        }
    }

    private static func events(_ label: String, _ length: Int) -> Stream {
        let source = PieceTransport.events(size / length, length: length)
        return Stream("\(name)/events of \(label)", source) {
            _ = String(decoding: $0, as: UTF8.self)
        } read: {
            try await source.readEvents()
        }
    }

    private static func lines(_ label: String, _ length: Int) -> Stream {
        let count = size / length
        let article = String(decoding: Article.json(length - "\n".utf8.count), as: UTF8.self)
        let source = PieceTransport(
            type: "application/x-ndjson", text: String(repeating: "\(article)\n", count: count), values: count,
            lines: count)
        return Stream("\(name)/lines of \(label)", source) {
            _ = try JSONDecoder().decode(Article.self, from: Data($0))
        } read: {
            var found = 0
            for try await _ in source.client.lines("export", of: Article.self) { found += 1 }
            return found
        }
    }

    /// Finds the lines, and copies the bytes of one that is in two pieces only.
    private static func split(_ body: HTTPBody, _ line: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var start: [UInt8] = []
        for try await piece in body {
            try piece.withUnsafeBytes { bytes in
                var rest = bytes
                while let first = rest.baseAddress, let feed = memchr(first, 0x0A, rest.count) {
                    let end = UnsafeRawPointer(feed) - first
                    let bytes = UnsafeRawBufferPointer(rebasing: rest[..<end])
                    if start.isEmpty {
                        try line(bytes)
                    } else {
                        start += bytes
                        try start.withUnsafeBytes(line)
                        start.removeAll(keepingCapacity: true)
                    }
                    rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                }
                start += rest
            }
        }
    }
}

/// Responds at once with a body in pieces of 16 KB.
struct PieceTransport: HTTPTransport {
    /// How many values and line feeds it has.
    let values: Int
    let lines: Int
    private let type: String
    private let pieces: [Data]

    init(type: String, text: String, values: Int, lines: Int) {
        (self.type, self.values, self.lines) = (type, values, lines)
        let bytes = Data(text.utf8)
        pieces = stride(from: 0, to: bytes.count, by: 16_384).map { Data(bytes[$0..<min($0 + 16_384, bytes.count)]) }
    }

    /// Events of one line, so many bytes each.
    static func events(_ count: Int, length: Int) -> PieceTransport {
        let article = String(decoding: Article.json(length - "data: \n\n".utf8.count), as: UTF8.self)
        return PieceTransport(
            type: "text/event-stream", text: String(repeating: "data: \(article)\n\n", count: count), values: count,
            lines: 2 * count)
    }

    /// Reads all events with a client.
    ///
    /// - Returns: How many there were.
    func readEvents() async throws -> Int {
        var found = 0
        for try await _ in client.events("feed") {
            found += 1
            // The stream would connect again.
            if found == values { break }
        }
        return found
    }

    var client: NetworkClient {
        NetworkClient(
            baseURL: URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/"), transport: self)
    }

    var endsInTime: Bool { true }

    var body: HTTPBody {
        HTTPBody { [pieces] in
            AsyncStream { stream in
                for piece in pieces { stream.yield(piece) }
                stream.finish()
            }
        }
    }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let head = HTTPResponseHead(
            status: 200, headers: HTTPHeaders([("Content-Type", type)]), url: request.head.url)
        return HTTPTransportResponse(head: head, body: body)
    }
}
