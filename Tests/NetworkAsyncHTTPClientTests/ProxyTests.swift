#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
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
        try await TLSServer.run(protocols: protocols) { server in
            try await ConnectProxy.run(.connects) { proxy in
                let transport = Self.transport(port: proxy.port, trust: try server.identity.trust())
                for purpose in HTTPTransportRequest.Purpose.allCases {
                    let response = try await transport.perform(server.request(purpose, body: HTTPBody(Data("ok".utf8))))
                    #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
                }
                #expect(server.requests == 3)
                #expect(server.fields.allSatisfy { !$0.contains("proxy-authorization") })
                #expect(proxy.requests.count == 3)
                for request in proxy.requests {
                    #expect(request.hasPrefix("CONNECT 127.0.0.1:\(server.url.port ?? 0) HTTP/1.1\r\n"))
                    #expect(request.contains("proxy-authorization: Basic \(Self.credentials)\r\n"))
                }
            }
        }
    }

    @Test func `an http request goes through a tunnel too, with its fields hidden from the proxy`() async throws {
        let peer = try LoopbackPeer { while $0.readRequest() != nil { $0.respond(body: Data("ok".utf8)) } }
        defer { peer.stop() }
        try await ConnectProxy.run(.connects) { proxy in
            let transport = Self.transport(port: proxy.port)
            let head = HTTPRequestHead(url: peer.url, headers: ["Authorization": "Bearer x"])
            let response = try await transport.perform(HTTPTransportRequest(head: head))
            #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
            #expect(peer.requests.first?["Authorization"] == "Bearer x")
            #expect(peer.requests.first?["Proxy-Authorization"] == nil)
            #expect(proxy.requests.allSatisfy { !$0.contains("Bearer") })
        }
    }

    @Test(arguments: protocols, [true, false])
    func `G28: a refresh whose connection comes too late, or after it was withdrawn, writes no byte of HTTP`(
        protocols: [String], isWithdrawn: Bool
    ) async throws {
        try await TLSServer.run(protocols: protocols) { server in
            let gate = Gate()
            try await ConnectProxy.run(.connectsAfter(gate)) { proxy in
                let transport = Self.transport(port: proxy.port, trust: try server.identity.trust())
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
    }

    /// How a proxy refuses, the code, what the error says, and how often the client tries with a retry policy. `nil`:
    /// the second attempt may wait for the connection of the first.
    static let refusals: [(ConnectProxy.Behavior, NetworkError.Code, String, Int?)] = [
        (.responds("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n"), .proxyRefused, "credentials", 1),
        (.responds("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"), .connectionFailed, "did not make", 2),
        (.responds("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n"), .connectionFailed, "did not make", 2),
        (.responds("SSH-2.0-OpenSSH_9.2\r\n"), .timedOut, "in time", nil),
        (.closes, .connectionFailed, "closed the connection", 2), (.hangs, .timedOut, "in time", nil),
    ]

    @Test(arguments: 0..<refusals.count)
    func `the error of a proxy that refuses names the proxy and no credentials`(number: Int) async throws {
        let (behavior, code, words, attempts) = Self.refusals[number]
        try await ConnectProxy.run(behavior) { proxy in
            let timeout: Duration = code == .timedOut ? .seconds(1) : Self.longTimeout
            let client = NetworkClient(
                baseURL: Self.origin, transport: Self.transport(port: proxy.port, connectTimeout: timeout),
                interceptors: [RetryPolicy(attempts: 2, baseDelay: .milliseconds(1))])
            let error = await networkError { try await client.send(.request(.get, "articles")) }
            #expect(error?.code == code && error?.status == nil)
            let text = "\(error.map(String.init(describing:)) ?? "")"
            #expect(text.contains("the proxy 127.0.0.1:\(proxy.port)") && text.contains(words), "\(text)")
            var dumped = ""
            dump(error, to: &dumped)
            for shown in [text, dumped, error?.localizedDescription ?? "", String(reflecting: error)] {
                #expect(!shown.contains(Self.password) && !shown.contains(Self.credentials))
            }
            if let attempts { #expect(proxy.requests.count == attempts) }
        }
    }

    @Test(arguments: ["407", "403", "401"])
    func `a page of a proxy is not the response of the server to a refresh`(status: String) async throws {
        let page = "HTTP/1.1 \(status) No\r\nContent-Type: application/json\r\nContent-Length: 25\r\n\r\n"
        try await ConnectProxy.run(.responds(page + "{\"error\":\"invalid_grant\"}")) { proxy in
            let client = NetworkClient(baseURL: Self.origin, transport: Self.transport(port: proxy.port))
            let error = await networkError { try await client.send(.request(.post, "refresh").allowingLateResponse()) }
            #expect(error?.statusOfWholeResponse == nil && error?.isRefusalOfTheCall == false)
            #expect(error?.serverError == nil && proxy.requests.count == 1)
        }
    }

    @Test func `a proxy that cannot be reached is named`() async throws {
        // No server listens on the first port.
        let transport = Self.transport(port: 1)
        let error = await #expect(throws: HTTPTransportError.self) {
            _ = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: Self.origin)))
        }
        #expect(error?.code == .connectionFailed)
        #expect(error?.reason == "no connection to the proxy 127.0.0.1:1 could be made")
    }

    /// Longer than a busy machine takes: only a proxy that makes no connection reaches a limit, which is shorter there.
    private static let longTimeout: Duration = .seconds(600)

    private static func transport(
        port: Int, trust: ServerTrust = .system, connectTimeout: Duration = longTimeout
    ) -> AsyncHTTPClientTransport {
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectTimeout = connectTimeout
        return AsyncHTTPClientTransport(limits: limits, trust: trust) { configuration in
            configuration.proxy = .server(
                host: "127.0.0.1", port: port, authorization: .basic(username: "user", password: password))
        }
    }
}
#endif
