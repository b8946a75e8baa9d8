import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTransfers
import NetworkURLSession
import TestSupport
import Testing

extension LoopbackServer {
    /// A client of the server.
    var client: NetworkClient { NetworkClient(baseURL: url, transport: URLSessionTransport()) }
}

/// Downloads of 100,000 bytes in place of an old file.
@Suite("Downloads", .timeLimit(.minutes(10)))
struct DownloadTests {
    let servers = LoopbackServers()
    /// The file at the target, in a folder of its own.
    let file: TemporaryFile
    let content = Self.bytes
    private static let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) })

    init() throws { file = try TemporaryFile(Data("old".utf8), named: "target.bin") }

    var endpoint: Endpoint<Void> { .get("file.bin") }
    var target: URL { file.url }
    var folder: URL { target.deletingLastPathComponent() }
    var neighbours: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    /// The neighbours when a partial file is kept.
    static var kept: [String] { [".target.bin.partial", ".target.bin.partial.json", "target.bin"] }

    /// A lost connection causes a short pause.
    var options: DownloadOptions {
        var options = DownloadOptions()
        options.backoff = Backoff(base: .zero, limit: .seconds(1), floor: .zero)
        return options
    }

    /// A lost connection ends the call, and a later one continues.
    var keeping: DownloadOptions {
        var options = options
        options.resumption = .acrossCalls
        options.maximumResumptions = 0
        return options
    }

    /// A response whose connection closes after a number of bytes.
    static func part(
        _ content: Data, from first: Int = 0, cutAfter count: Int? = nil, status: Int? = nil,
        fields: [String: String] = ["ETag": "\"v1\""]
    ) -> LoopbackServer.Action {
        let rest = content.dropFirst(first)
        var head = "HTTP/1.1 \(status ?? (first > 0 ? 206 : 200)) OK\r\nContent-Length: \(rest.count)\r\n"
        var fields = fields
        if first > 0, fields["Content-Range"] == nil {
            fields["Content-Range"] = "bytes \(first)-\(content.count - 1)/\(content.count)"
        }
        for (name, value) in fields where !value.isEmpty { head += "\(name): \(value)\r\n" }
        return .raw(Data((head + "\r\n").utf8) + rest.prefix(count ?? .max))
    }

    /// A response whose length is not announced, cut in its second chunk.
    static func cutChunks(_ first: Data) -> LoopbackServer.Action {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n"
        let size = String(first.count, radix: 16) + "\r\n"
        return .raw(Data((head + size).utf8) + first + Data("\r\nff\r\n".utf8))
    }

    static func first(of request: LoopbackServer.Request) -> Int {
        request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    }

    /// A server that sends the part that it is asked for. It cuts some responses after 40,000 bytes: without another
    /// rule those from the start.
    func cuttingServer(
        where isCut: @escaping @Sendable (LoopbackServer.Request) -> Bool = { Self.first(of: $0) == 0 }
    ) throws -> LoopbackServer {
        try servers.start { [content] request in
            Self.part(content, from: Self.first(of: request), cutAfter: isCut(request) ? 40_000 : nil)
        }
    }
}
