#if AsyncHTTPClient
import ContractTesting
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkTransfers
import Testing

/// Heads in another character set than the decoder's.
@Suite(.timeLimit(.minutes(20))) struct ResponseHeadTests {
    private static let body = Data([0xE9, 0xFF]) + Data("\r\n\r\n".utf8) + Data([0xC3, 0xA9, 0x80])

    private static func response(named name: [UInt8]) -> Data {
        Data("HTTP/1.1 200 OK\r\nX-Name: é\r\nContent-Disposition: attachment; filename=\"".utf8) + Data(name)
            + Data("\"\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    @Test(arguments: [
        (Array("caf".utf8) + [0xE9], "caf\u{E9}"), (Array("caf\u{E9}".utf8), "caf\u{E9}"), (Array("cafe".utf8), "cafe"),
        ([0xE2, 0x82], "\u{E2}"),
    ])
    func `a line that is not UTF-8 is ISO-8859-1, and the body stays`(name: [UInt8], read: String) async throws {
        let peer = try LoopbackPeer { connection in
            while connection.readRequest() != nil { connection.send(Self.response(named: name)) }
        }
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<2 {
            let response = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: peer.url)))
            #expect(response.head.contentDisposition?.fileName == read)
            #expect(response.head.headers["X-Name"] == "\u{E9}")
            #expect(try await response.body.collect(upTo: 1_000) == Self.body)
        }
    }
}
#endif
