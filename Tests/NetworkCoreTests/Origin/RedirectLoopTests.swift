import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("Following redirects", .timeLimit(.minutes(10)))
struct RedirectLoopTests {
    func client(_ transport: StubTransport) -> NetworkClient { NetworkClient(transport) { $0.maximumRedirects = 3 } }

    @Test func `redirects are followed up to the limit, and a loop of them ends the call`() async throws {
        let redirects = (1...3).map { StubRequest.any ~> .redirect(to: "/\($0)") }
        let arriving = StubTransport(redirects + [.any ~> .status(204)])
        try await client(arriving).send(Endpoint<Void>.get("x"))
        #expect(arriving.requests.map(\.path) == ["api/v1/x", "1", "2", "3"])

        let lost = StubTransport(redirects + [.any ~> .redirect(to: "/4")])
        #expect(await networkError { try await client(lost).send(Endpoint<Void>.get("x")) }?.code == .tooManyRedirects)
        #expect(lost.requests.count == 4)

        let loop = StubTransport(responding: .redirect(to: "/b"), .redirect(to: "/api/v1/x"))
        #expect(await networkError { try await client(loop).send(Endpoint<Void>.get("x")) }?.code == .tooManyRedirects)
        #expect(loop.requests.count == 2)
    }

    @Test func `a POST may be redirected by 303 to its own URL`() async throws {
        let transport = StubTransport(.post("x") ~> .redirect(303, to: "/api/v1/x"), .get("x") ~> .status(204))
        try await client(transport).send(Endpoint<Void>.post("x", json: "body"))
        #expect(transport.requests.map(\.body) == [Data("\"body\"".utf8), nil])
    }

    @Test func `a body is sent again within the origin only`() async throws {
        let transport = StubTransport(
            .post("x") ~> .redirect(307, to: "/y"), .post("y") ~> .redirect(307, to: "https://evil.net/y"))
        let call = Endpoint<Void>.post("x", body: .data(Data("again".utf8)))
        let error = await networkError { try await client(transport).send(call) }
        #expect(transport.requests.map(\.body) == [Data("again".utf8), Data("again".utf8)])
        #expect(
            error?.code == .redirectRefused && error?.status == 307 && "\(error as Any)".contains("https://evil.net"))
    }

    @Test func `a call that may change something and carries no token stays within its origin`() async throws {
        for (rule, requests) in [(nil, 1), (.follow, 2)] as [(RedirectRule?, Int)] {
            for status in [301, 302, 303] {
                let transport = StubTransport(.post("login") ~> .redirect(status, to: "https://evil.net/a"))
                if requests == 2 { transport.add(.any ~> .status(204)) }
                var call = Endpoint<Void>.post("login", json: "password")
                call.settings.redirects = rule
                try? await client(transport).send(call)
                #expect(transport.requests.count == requests)
            }
        }
        let foreign = StubTransport(.any ~> .redirect(303, to: "https://evil.net/a"))
        let call = Endpoint<Void>.post(.url(url("https://login.other.example/session")), json: "password")
        let authenticated = client(foreign).authenticated(by: ScriptedTokenProvider())
        #expect(await networkError { try await authenticated.send(call) }?.code == .redirectRefused)
        #expect(foreign.requests.count == 1)
        let within = StubTransport(.post("x") ~> .redirect(303, to: "/y"), .any ~> .status(204))
        _ = try? await client(within).send(Endpoint<Void>.post("x", json: "body"))
        #expect(within.requests.count == 2)
    }

    @Test func `a map keeps the rule for redirects`() async throws {
        let transport = StubTransport(.any ~> .redirect(to: "/b"))
        let call = Endpoint<Void>.get("x").redirects(.refuse).map { _, _ in 7 }
        let error = await #expect(throws: NetworkError.self) { try await client(transport).send(call) }
        #expect(error?.code == .redirectRefused && transport.requests.count == 1)
    }

    @Test func `a token that a redirect removed is not added again, and a 401 then does not refuse it`() async throws {
        let provider = ScriptedTokenProvider()
        let back: HTTPHeaders = ["Location": "https://api.example.com/b", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        let transport = StubTransport(
            responding: .redirect(to: "https://evil.net/a"), .status(302, headers: back), .status(401))
        let error = await networkError { try await client(transport).authenticated(by: provider).send(.article(7)) }
        #expect(error?.code == .unacceptableStatus && provider.refused.isEmpty && provider.dates.isEmpty)
        #expect(transport.sent("Authorization") == ["Bearer access-0", nil, nil])
    }

    @Test func `the next attempt starts at the URL of the endpoint`() async throws {
        let provider = ScriptedTokenProvider()
        let transport = StubTransport(
            .any ~> .redirect(to: "/moved"), .get("moved") ~> .status(401),
            .any ~> .redirect(to: "/moved"), .get("moved") ~> .status(204)
        )
        try await client(transport).authenticated(by: provider).send(Endpoint<Void>.get("x"))
        let tokens = transport.sent("Authorization").map { $0?.suffix(8) }
        #expect(tokens == ["access-0", "access-0", "access-1", "access-1"])
    }
}
