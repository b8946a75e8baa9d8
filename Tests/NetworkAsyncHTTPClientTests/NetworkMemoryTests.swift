#if AsyncHTTPClient && os(Linux)
import Foundation
import NetworkCore
import TestSupport
import Testing
import NetworkURLSession

@testable import NetworkAsyncHTTPClient

/// The memory that a gigabyte takes in each direction: `make bench-network`. The server is another process.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["BENCH"] != nil, "a measurement: make bench-network")
)
struct NetworkMemoryTests {
    private static let gigabyte = 1_024 * 1_024 * 1_024
    private static let megabyte = 1_024 * 1_024

    @Test func `a gigabyte takes at most 16 MB over AsyncHTTPClient`() async throws {
        let transport = AsyncHTTPClientTransport()
        for (direction, peak) in try await Self.peaks(over: transport, rate: 0) {
            NetworkCostTests.print("AsyncHTTPClient, 1 GB \(direction): peak \(peak) MB over idle")
            #expect(peak <= 16, "\(direction)")
        }
    }

    @Test func `a gigabyte takes at most 32 MB over URLSession, where the server is paced`() async throws {
        let transport = URLSessionTransport()
        for (direction, peak) in try await Self.peaks(over: transport, rate: 100 * Self.megabyte) {
            NetworkCostTests.print("URLSession, 1 GB \(direction): peak \(peak) MB over idle")
            #expect(peak <= 32, "\(direction)")
        }
    }

    /// The most memory of this process over what it had before, in megabytes.
    private static func peaks(over transport: some HTTPTransport, rate: Int) async throws -> [(String, Int)] {
        let server = try await BenchServer()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-bench-\(UUID().uuidString)")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: file) }
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(gigabyte))
        let sequence = HTTPBody(length: Int64(gigabyte)) {
            AsyncStream(unfolding: Pieces(count: gigabyte / (64 * 1_024)).next)
        }
        let down = server.url.appendingPathComponent("bytes")
        // Threads, buffers and code that stay.
        let warm = down.appendingPathComponent("\(32 * megabyte)/\(rate)")
        #expect(try await transfer(.get, warm, .none, over: transport) == 32 * megabyte)
        #expect(try await transfer(.put, server.url, HTTPBody(Data(count: megabyte)), over: transport) > 0)
        var peaks: [(String, Int)] = []
        let transfers: [(String, HTTPMethod, URL, HTTPBody)] = [
            ("down", .get, down.appendingPathComponent("\(gigabyte)/\(rate)"), .none),
            ("up from a file", .put, server.url, try HTTPBody(file: file)),
            ("up from a sequence", .put, server.url, sequence),
        ]
        for (direction, method, url, body) in transfers {
            let idle = memory("VmRSS")
            // The peak starts anew (proc(5)).
            try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
            let count = try await transfer(method, url, body, over: transport)
            #expect(method == .put || count == gigabyte)
            peaks.append((direction, (memory("VmHWM") - idle) / 1_024))
        }
        return peaks
    }

    /// - Returns: The bytes of the response.
    private static func transfer(
        _ method: HTTPMethod, _ url: URL, _ body: HTTPBody, over transport: some HTTPTransport
    ) async throws -> Int {
        let request = HTTPTransportRequest(
            head: HTTPRequestHead(method: method, url: url), body: body, idleTimeout: .seconds(600))
        var count = 0
        for try await piece in try await transport.perform(request).body { count += piece.count }
        return count
    }

    /// A line of the process's status, in kilobytes.
    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    /// Pieces of 64 KB.
    private final class Pieces: @unchecked Sendable {  // one reader
        private var rest: Int

        init(count: Int) { rest = count }

        func next() -> Data? {
            rest -= 1
            return rest < 0 ? nil : Data(count: 64 * 1_024)
        }
    }
}

/// The server of a measurement, in a process of its own.
final class BenchServer: Sendable {
    let url: URL
    private let process: SpawnedProcess

    init() async throws {
        process = try SpawnedProcess(
            SpawnedProcess.peer, ["server"], environment: ProcessInfo.processInfo.environment)
        let line = await process.lines.first { _ in true }
        url = try #require(line.flatMap { URL(string: $0) })
    }

    deinit { process.kill() }
}

/// Responds at once with the article.
struct NoOpTransport: HTTPTransport {
    static let body = Data("{\"id\":7,\"title\":\"An article\"}".utf8)
    private static let headers = HTTPHeaders([("Content-Type", "application/json")])

    var endsInTime: Bool { true }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let head = HTTPResponseHead(status: 200, headers: Self.headers, url: request.head.url)
        return HTTPTransportResponse(head: head, body: HTTPBody(Self.body))
    }
}
#endif
