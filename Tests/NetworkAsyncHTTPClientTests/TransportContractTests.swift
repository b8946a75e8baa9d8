#if AsyncHTTPClient
import AsyncHTTPClient
import ContractTesting
import Foundation
import NetworkCore
import NetworkTesting
import NetworkTransfers
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient

@Suite(.timeLimit(.minutes(20))) struct TransportContractTests {
    @Test func `the transport keeps the contract`() async throws {
        try await TransportContract.check(timeLimit: .seconds(900)) { AsyncHTTPClientTransport() }
    }

    @Test func `a transport that was shut down sends nothing`() async throws {
        let transport = AsyncHTTPClientTransport()
        try await transport.shutdown()
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: url("http://127.0.0.1:9")))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.perform(request) }
        #expect(error?.code == .transportFailed)
    }

    @Test func `the URLs of requests are not written to the spans of the application`() {
        var hasTracer = true
        _ = AsyncHTTPClientTransport { hasTracer = $0.tracing.tracer != nil }
        #expect(!hasTracer)
    }

    @Test(arguments: [
        (Array("caf".utf8) + [0xE9], "caf\u{E9}"), (Array("caf\u{E9}".utf8), "caf\u{E9}"), (Array("cafe".utf8), "cafe"),
        ([0xE2, 0x82], "\u{E2}"),
    ])
    func `a line of a head that is not UTF-8 is ISO-8859-1, and the body stays`(name: [UInt8], read: String)
        async throws
    {
        let body = Data([0xE9, 0xFF]) + Data("\r\n\r\n".utf8) + Data([0xC3, 0xA9, 0x80])
        let response =
            Data("HTTP/1.1 200 OK\r\nX-Name: é\r\nContent-Disposition: attachment; filename=\"".utf8) + Data(name)
            + Data("\"\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        let peer = try LoopbackPeer { while $0.readRequest() != nil { $0.send(response) } }
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<2 {
            let response = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: peer.url)))
            #expect(response.head.contentDisposition?.fileName == read)
            #expect(response.head.headers["X-Name"] == "\u{E9}")
            #expect(try await response.body.collect(upTo: 1_000) == body)
        }
    }

    /// Over real sockets.
    @Test(arguments: LostResponseTests.Subject.allCases, [301, 302, 303, 307, 308])
    func `G15: a token call follows no redirect over either transport`(
        over subject: LostResponseTests.Subject, status: Int
    ) async throws {
        let other = try LoopbackServer { _ in .json(#"{"access_token":"mallory"}"#) }
        defer { other.stop() }
        for target in [other.url.absoluteString, "/elsewhere"] {
            let server = try LoopbackServer { request in
                request.target == "/token"
                    ? .respond(status, headers: ["Location": target]) : .json(#"{"access_token":"mallory"}"#)
            }
            defer { server.stop() }
            let client = NetworkClient(
                baseURL: server.url, transport: subject.transport, interceptors: [RetryPolicy.standard])
            for body in [RequestBody.form(["grant_type": "refresh_token"]), .none] {
                let call = Endpoint<[String: String]>.post("token", body: body)
                for call in [call.asTokenCall(), call.allowingLateResponse()] {
                    let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
                    #expect(error?.code == .redirectRefused && error?.status == status)
                }
            }
            #expect(server.requests.map(\.target) == Array(repeating: "/token", count: 4))
        }
        #expect(other.connectionCount == 0)
    }
}
#endif
