#if AsyncHTTPClient
import AsyncHTTPClient
import ContractTesting
import Foundation
import NIOCore
import NetworkCore
import Testing

@testable import NetworkAsyncHTTPClient

/// A response with tokens, and a fault beside them. The tokens before are spent.
@Suite(.timeLimit(.minutes(20))) struct LenientResponseTests {
    private static let tokens = #"{"a":"1"}"#
    private static let chunks = "Transfer-Encoding: chunked\r\n\r\n9\r\n\(tokens)\r\n0\r\n\r\n"

    /// What an ordinary call refuses.
    static let readable =
        [
            "X A: b", "stray", "X-A: b\r\n c\r\n\td", " X-A: b", "stray\r\n X-A: b", "X-A: \u{1}b\u{0}\u{7F}", "\u{1}",
            ": b", "X-A : b", "Transfer-Encoding: identity", "Content-Length: 9", "Content-Encoding: gzip",
            "Content-Encoding: deflate",
        ].map { "HTTP/1.1 200 OK\r\n\($0)\r\nContent-Length: 9\r\n\r\n\(tokens)" }
        + [
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n" + chunks,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 7\r\n" + chunks,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9 \t\r\n\(tokens)\r\n0 \r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9 ;x=y\r\n\(tokens)\r\n0\r\nstray\r\n\r\n",
            "HTTP/1.1 200 OK\nContent-Length: 9\n\n\(tokens)",
            "HTTP/1.1 103 Early\r\nX A: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length : 9\r\n\r\n\(tokens)",
            "HTTP/1.1 200 OK\r\nstray\r\n\r\n\(tokens)",
        ]

    private static let call = Endpoint<[String: String]>.post("token", body: .form(["grant_type": "refresh_token"]))

    private func outcome(
        of call: Endpoint<[String: String]> = Self.call, _ response: String, host: String = "127.0.0.1",
        over transport: AsyncHTTPClientTransport = AsyncHTTPClientTransport()
    ) async throws -> (value: [String: String]?, error: NetworkError?, request: LoopbackServer.Request?) {
        // A connection that stays open shows that no end is waited for.
        let peer = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(response)
            if response.contains("9\r\n") || response.contains("chunked") { connection.waitForClose() }
        }
        defer { peer.stop() }
        let url = try #require(URL(string: "http://\(host):\(peer.url.port ?? 0)"))
        var configuration = NetworkConfiguration(baseURL: url)
        configuration.cleartextExceptions = Set([Origin(url)].compactMap(\.self))
        do {
            let value = try await NetworkClient(configuration: configuration, transport: transport).send(call)
            return (value, nil, peer.requests.first)
        } catch let error as NetworkError {
            return (nil, error, peer.requests.first)
        }
    }

    @Test(arguments: readable)
    func `a token call reads what leaves no doubt, and an ordinary call refuses it`(_ response: String) async throws {
        for call in [Self.call.asTokenCall(), Self.call.allowingLateResponse()] {
            let (value, error, _) = try await outcome(of: call, response)
            #expect(value == ["a": "1"], "\(response.debugDescription): \(String(describing: error))")
        }
        let (value, error, _) = try await outcome(response)
        #expect(value == nil && error?.code == .invalidResponse, "\(response.debugDescription)")
    }

    @Test(arguments: readable)
    func `bytes may arrive one by one`(_ response: String) throws {
        var (whole, parts) = (LenientResponse(), LenientResponse())
        var expected = ByteBuffer(string: response)
        try whole.repair(&expected)
        var repaired = ByteBuffer()
        for byte in response.utf8 {
            var bytes = ByteBuffer(bytes: [byte])
            try parts.repair(&bytes)
            repaired.writeBuffer(&bytes)
        }
        #expect(String(buffer: repaired) == String(buffer: expected))
    }

    @Test(arguments: [
        ("200 OK\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n", "two lengths"),
        ("200 OK\r\nContent-Length: 9, 8\r\n\r\n", "two lengths"), ("200 O\u{0}K\r\nContent-Length: 9\r\n\r\n", "NUL"),
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no number"),
        ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+9\r\n", "no number"),
        ("200 OK\r\nContent-Length: nine\r\n\r\n", "content-length"),
    ])
    func `what leaves a doubt is lost, and the error has the reason`(head: String, reason: String) async throws {
        for call in [Self.call.asTokenCall(), Self.call.allowingLateResponse()] {
            let (_, error, _) = try await outcome(of: call, "HTTP/1.1 \(head)\(Self.tokens)\r\n0\r\n\r\n")
            #expect(error?.code == .invalidResponse && error?.statusOfWholeResponse == nil)
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
    }

    @Test func `a head has a greatest length, also one whose lines are left out`() throws {
        var response = LenientResponse()
        var start = ByteBuffer(string: "HTTP/1.1 200 OK\r\n")
        try response.repair(&start)
        #expect(throws: HTTPTransportError.self) {
            for _ in 0..<LenientResponse.longestHead / 1_000 {
                var lines = ByteBuffer(string: String(repeating: "stray\r\n", count: 500))
                try response.repair(&lines)
            }
        }
    }

    @Test func `in clear, and over an application's client, a token call is read strictly`() async throws {
        let shared = HTTPClient()
        let elsewhere = AsyncHTTPClientTransport { $0.dnsOverride = ["id.example.com": "127.0.0.1"] }
        for (host, transport) in [
            ("127.0.0.1", AsyncHTTPClientTransport(sharing: shared)), ("id.example.com", elsewhere),
        ] {
            let call = Self.call.allowingLateResponse()
            let (_, error, _) = try await outcome(of: call, Self.readable[0], host: host, over: transport)
            #expect(error?.code == .invalidResponse)
        }
        try await shared.shutdown()
    }

    @Test func `a token call asks for no coding and the end of its connection; any call names the client`() async throws
    {
        for call in [Self.call.asTokenCall(), Self.call.allowingLateResponse(), Self.call] {
            let isForTokens = call.settings.redirects != nil
            let request = try await outcome(of: call, Self.readable[0]).request
            #expect(request?.values(of: "Accept-Encoding") == [isForTokens ? "identity" : "deflate, gzip"])
            #expect(request?.values(of: "Connection") == (isForTokens ? ["close"] : []))
            #expect(request?.values(of: "User-Agent") == ["Latchkey"])
        }
        let named = Self.call.header("User-Agent", "Reader/1")
        #expect(try await outcome(of: named, Self.readable[0]).request?.values(of: "User-Agent") == ["Reader/1"])
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `HTTP/2 has no field Connection`(version: String) async throws {
        try await TLSServer.run(protocols: [version]) { server in
            _ = try await server.transport().perform(server.request(.refresh)).body.collect(upTo: 10)
            #expect(server.fields.last?.contains("connection") == (version == "http/1.1"))
        }
    }
}
#endif
