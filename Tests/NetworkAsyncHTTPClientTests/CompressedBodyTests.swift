#if AsyncHTTPClient
import ContractTesting
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Testing

@testable import NetworkTesting

/// Compressed bodies that NIO's decompressor does not decode alone, however their bytes arrive.
@Suite(.timeLimit(.minutes(20))) struct CompressedBodyTests {
    private static let text = Data("hello hello hello".utf8)
    private static let bareDeflate = Data(base64Encoded: "y0jNyclXyECQAA==") ?? Data()
    /// A member that is stored and not compressed, whose content looks like another member at an offset.
    private static let misleading =
        Data(base64Encoded: "H4sIAAAAAAAEAwEXAOj/BQAAAB+LCAAAAAAAAgNoZWxsbyBoZWwMGS9SFwAAAA==") ?? Data()

    /// The response to a body that arrives in chunks, which NIO hands on one by one.
    private static func body(
        _ coding: String, _ chunks: [Data], over transport: AsyncHTTPClientTransport
    ) async throws -> Data {
        let peer = try LoopbackPeer { connection in
            while connection.readRequest() != nil {
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
                var bytes = Data(head.utf8)
                for chunk in chunks where !chunk.isEmpty {
                    bytes += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
                }
                connection.send(bytes + Data("0\r\n\r\n".utf8))
            }
        }
        defer { peer.stop() }
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: peer.url), idleTimeout: .seconds(600))
        return try await transport.perform(request).body.collect(upTo: 1_000)
    }

    @Test func `a body is decoded wherever it is cut`() async throws {
        let transport = AsyncHTTPClientTransport()
        for (coding, bytes) in [("gzip", Data.members), ("deflate", Self.bareDeflate)] {
            for cut in 0..<bytes.count {
                let body = try await Self.body(coding, [bytes.prefix(cut), bytes.dropFirst(cut)], over: transport)
                #expect(body == Self.text, "\(coding), cut at \(cut)")
            }
            #expect(try await Self.body(coding, bytes.map { Data([$0]) }, over: transport) == Self.text)
        }
    }

    @Test(arguments: ["gzip", "x-gzip", "deflate"])
    func `a body without a byte is empty`(coding: String) async throws {
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<2 { #expect(try await Self.body(coding, [], over: transport) == Data()) }
        #expect(try await Self.body("gzip", [Data.members], over: transport) == Self.text)
    }

    @Test func `content that looks like another member is content`() async throws {
        let transport = AsyncHTTPClientTransport()
        let content = try await Self.body("gzip", [Self.misleading], over: transport)
        #expect(content.count == 23 && content.dropFirst(4).starts(with: [0x1F, 0x8B, 8]))
        #expect(try await Self.body("gzip", Self.misleading.map { Data([$0]) }, over: transport) == content)
        let twice = try await Self.body("gzip", [Self.misleading + Data.members], over: transport)
        #expect(twice == content + Self.text)
    }

    @Test func `a body that is cut short or has surplus bytes is invalidResponse`() async throws {
        let transport = AsyncHTTPClientTransport()
        for (coding, bytes) in [("gzip", Data.members), ("deflate", Self.bareDeflate)] {
            for count in 1..<bytes.count where coding == "deflate" || ![26, 46].contains(count) {
                let error = await #expect(throws: HTTPTransportError.self, "\(coding), \(count) bytes") {
                    try await Self.body(coding, [bytes.prefix(count)], over: transport)
                }
                #expect(error?.code == .invalidResponse)
            }
            let error = await #expect(throws: HTTPTransportError.self) {
                try await Self.body(coding, [bytes + Data("surplus".utf8)], over: transport)
            }
            #expect(error?.code == .invalidResponse)
        }
    }
}
#endif
