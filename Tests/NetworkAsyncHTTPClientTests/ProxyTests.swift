#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkExchange
import NetworkTestSupport
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient

/// A proxy between the transport and the server, on loopback.
@Suite(.timeLimit(.minutes(20))) struct ProxyTests {
    private static let password = "proxy-Secret-4711"
    private static let origin = url("https://api.example.com")
    private static let credentials = Data("user:\(password)".utf8).base64EncodedString()

    private static let protocols = [["h2", "http/1.1"], ["http/1.1"]]

    @Test(arguments: protocols)
    func `an https request goes through a tunnel, and the server does not see the credentials`(
        protocols: [String]
    ) async throws {
        let tunnel = TLSServer.Tunnel()
        try await TLSServer.run(protocols: protocols, tunnel: tunnel) { server in
            let transport = Self.transport(to: server.url, trust: try server.identity.trust())
            for purpose in HTTPTransportRequest.Purpose.allCases {
                let response = try await transport.perform(server.request(purpose, body: HTTPBody(Data("ok".utf8))))
                #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
            }
            #expect(server.requests == 3)
            #expect(server.fields.allSatisfy { !$0.contains("proxy-authorization") })
            #expect(tunnel.requests.values.count == 3)
            for request in tunnel.requests.values {
                #expect(request.hasPrefix("CONNECT 127.0.0.1:\(server.url.port ?? 0) HTTP/1.1\r\n"))
                #expect(request.contains("proxy-authorization: Basic \(Self.credentials)\r\n"))
            }
        }
    }

    @Test func `LE1, G16: no proxy is asked for a tunnel to a server without encryption, on loopback too`() async throws
    {
        let proxy = try Self.proxy(responding: nil)
        defer { proxy.stop() }
        let transport = Self.transport(to: proxy.url)
        for target in [proxy.url, url("http://api.example.com")] {
            let request = HTTPTransportRequest(head: HTTPRequestHead(url: target))
            let error = await #expect(throws: HTTPTransportError.self) { _ = try await transport.perform(request) }
            #expect(error?.code == .cleartextRefused)
            #expect(error?.reason.contains("the proxy 127.0.0.1:\(proxy.url.port ?? 0)") == true)
        }
        #expect(proxy.requests.isEmpty)
    }

    @Test(arguments: protocols, [true, false])
    func `G28: a refresh whose connection comes too late, or after it was withdrawn, writes no byte of HTTP`(
        protocols: [String], isWithdrawn: Bool
    ) async throws {
        let gate = Gate()
        try await TLSServer.run(protocols: protocols, tunnel: TLSServer.Tunnel(gate: gate)) { server in
            let transport = Self.transport(to: server.url, trust: try server.identity.trust())
            let clock = ManualTimeSource()
            let permit = StartPermit(until: clock.uptime + .seconds(30), on: clock)
            _ = permit.handOver()
            var request = server.request(.refresh, body: HTTPBody(Data("token".utf8)))
            request.startPermit = permit
            let exchange = Task { [request] in try await transport.perform(request) }
            try await gate.arrivals(atLeast: 1)
            if isWithdrawn { #expect(permit.withdraw() == .notMade) } else { clock.advance(by: .seconds(30)) }
            gate.open()
            let error = await #expect(throws: HTTPTransportError.self) { _ = try await exchange.value }
            #expect(error?.code == .notStarted && permit.withdraw() == .notMade)
            #expect(server.requests == 0)
        }
    }

    /// A proxy that responds so to a request for a tunnel, and keeps the connection open. `nil`: it closes it.
    private static func proxy(responding text: String?) throws -> LoopbackPeer {
        try LoopbackPeer { connection in
            guard connection.readRequest() != nil, let text else { return }
            connection.send(text)
            connection.waitForClose()
        }
    }

    /// How a proxy refuses, the code, what the error says, and how often the client tries with a retry policy. `nil`:
    /// the second attempt may wait for the connection of the first.
    @Test(
        arguments: [
            ("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n", .proxyRefused, "credentials", 1),
            ("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", .connectionFailed, "did not make", 2),
            ("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n", .connectionFailed, "did not make", 2),
            ("SSH-2.0-OpenSSH_9.2\r\n", .timedOut, "in time", nil),
            (nil, .connectionFailed, "closed the connection", 2), ("", .timedOut, "in time", nil),
        ] as [(String?, NetworkError.Code, String, Int?)])
    func `the error of a proxy that refuses names the proxy and no credentials`(
        response: String?, code: NetworkError.Code, words: String, attempts: Int?
    ) async throws {
        let proxy = try Self.proxy(responding: response)
        defer { proxy.stop() }
        let timeout: Duration = code == .timedOut ? .seconds(1) : Self.longTimeout
        let client = NetworkClient(
            baseURL: Self.origin, transport: Self.transport(to: proxy.url, connectTimeout: timeout),
            interceptors: [RetryPolicy(attempts: 2, baseDelay: .milliseconds(1))])
        let error = await networkError { try await client.send(.request(.get, "articles")) }
        #expect(error?.code == code && error?.status == nil)
        let text = "\(error.map(String.init(describing:)) ?? "")"
        #expect(text.contains("the proxy 127.0.0.1:\(proxy.url.port ?? 0)") && text.contains(words), "\(text)")
        var dumped = ""
        dump(error, to: &dumped)
        for shown in [text, dumped, error?.localizedDescription ?? "", String(reflecting: error)] {
            #expect(!shown.contains(Self.password) && !shown.contains(Self.credentials))
        }
        if let attempts { #expect(proxy.requests.count == attempts) }
    }

    @Test(arguments: ["407", "403", "401"])
    func `a page of a proxy is not the response of the server to a refresh`(status: String) async throws {
        let page = "HTTP/1.1 \(status) No\r\nContent-Type: application/json\r\nContent-Length: 25\r\n\r\n"
        let proxy = try Self.proxy(responding: page + "{\"error\":\"invalid_grant\"}")
        defer { proxy.stop() }
        let client = NetworkClient(baseURL: Self.origin, transport: Self.transport(to: proxy.url))
        let error = await networkError { try await client.send(.request(.post, "refresh").allowingLateResponse()) }
        #expect(error?.statusOfWholeResponse == nil && error?.isRefusalOfTheCall == false)
        #expect(error?.serverError == nil && proxy.requests.count == 1)
    }

    @Test func `a proxy that cannot be reached is named`() async throws {
        // No server listens on the first port.
        let transport = Self.transport(to: url("http://127.0.0.1:1"))
        let error = await #expect(throws: HTTPTransportError.self) {
            _ = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: Self.origin)))
        }
        #expect(error?.code == .connectionFailed)
        #expect(error?.reason == "no connection to the proxy 127.0.0.1:1 could be made")
    }

    /// Longer than a busy machine takes: only a proxy that makes no connection reaches a limit, which is shorter there.
    private static let longTimeout: Duration = .seconds(600)

    private static func transport(
        to proxy: URL, trust: ServerTrust = .system, connectTimeout: Duration = longTimeout
    ) -> AsyncHTTPClientTransport {
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectTimeout = connectTimeout
        return AsyncHTTPClientTransport(limits: limits, trust: trust) { configuration in
            configuration.proxy = .server(
                host: "127.0.0.1", port: proxy.port ?? 0, authorization: .basic(username: "user", password: password))
        }
    }
}
#endif
