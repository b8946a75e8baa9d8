import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import Testing

/// S9 over real sockets, which would show a redirect that the platform itself follows.
@Suite("Redirects over real sockets", .timeLimit(.minutes(10)))
struct RedirectSocketTests {
    @Test(
        arguments: [301, 302, 303, 307, 308],
        [TokenPlacement.bearer, .fields(accessToken: "accessToken", refreshToken: "refreshToken")]
    )
    func `no token arrives at another origin`(status: Int, placement: TokenPlacement) async throws {
        let other = try LoopbackServer { _ in .json(#"{"success":true,"data":{"id":7,"title":"x"}}"#) }
        defer { other.stop() }
        let target = other.url.appendingPathComponent("stolen").absoluteString
        let api = try LoopbackServer { _ in .respond(status, headers: ["Location": target]) }
        defer { api.stop() }
        let network = NetworkClient(baseURL: api.url, transport: URLSessionTransport())
            .authenticated(by: ScriptedTokenProvider(), policy: AuthenticationPolicy(placement: placement))
        #expect(try await network.send(.article(7)) == Article(id: 7, title: "x"))

        let sent = try #require(api.requests.first)
        #expect(sent.headers.contains { $0.value.contains("access-0") })
        let arrived = try #require(other.requests.first)
        #expect(arrived.target == "/stolen")
        #expect(!arrived.headers.contains { $0.value.contains("access-0") || $0.value.contains("refresh-0") })
        #expect(arrived["Authorization"] == nil)
    }

    @Test(arguments: [307, 308])
    func `no body arrives at another origin`(status: Int) async throws {
        let other = try LoopbackServer { _ in .respond(200) }
        defer { other.stop() }
        let target = other.url.absoluteString
        let api = try LoopbackServer { _ in .respond(status, headers: ["Location": target]) }
        defer { api.stop() }
        let network = NetworkClient(baseURL: api.url, transport: URLSessionTransport())
        await #expect {
            try await network.send(Endpoint<Void>.post("auth/refresh", json: ["refreshToken": "refresh-0"]))
        } throws: { error in
            (error as? NetworkError)?.code == .redirectRefused
        }
        #expect(other.connectionCount == 0)
    }

    @Test(arguments: ["data", "file", "stream"])
    func `a body is sent again in full within the origin`(kind: String) async throws {
        let content = Data(repeating: 7, count: 100_000)
        let file = try TemporaryFile(content)
        let body: RequestBody =
            switch kind {
            case "data": .data(content)
            case "file": .file(file.url)
            default: .sequence { content.pieces }
            }
        let api = try LoopbackServer { request in
            request.target == "/from" ? .respond(307, headers: ["Location": "/to"]) : .respond(204)
        }
        defer { api.stop() }
        let network = NetworkClient(baseURL: api.url, transport: URLSessionTransport())
        try await network.send(Endpoint<Void>.post("from", body: body))
        #expect(api.requests.map(\.target) == ["/from", "/to"])
        #expect(api.requests.map(\.method) == ["POST", "POST"])
        #expect(api.requests.map(\.body) == [content, content])
    }
}
