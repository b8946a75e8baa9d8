#if AsyncHTTPClient
import AuthInterface
import Foundation
import NetworkCore
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkTesting

/// RFC 9113 §8.7: a request that the server says it has not processed is sent again with any method, and once.
@Suite(.timeLimit(.minutes(20))) struct RefusedRequestTests {
    typealias Script = HostileHTTP2Server.Script
    typealias Frame = HostileHTTP2Server.Frame

    private static let ok: [Frame] = [.status("200"), .data("ok", ends: true)]

    /// How a server refuses, for its first request.
    private static let refusals: [Script] = [
        Script(response: [.reset(7)], later: ok), Script(response: [.goAway(last: 0)]),
        Script(response: [.goAway(last: 0)], closes: true), Script(response: [.status("103"), .reset(7)], later: ok),
    ]

    private static func client(_ transport: AsyncHTTPClientTransport, _ url: URL) -> NetworkClient {
        NetworkClient(baseURL: url, transport: transport)
    }

    @Test(arguments: 0..<refusals.count, [HTTPMethod.get, .post])
    func `a refused request is sent once more`(refusal: Int, method: HTTPMethod) async throws {
        try await HostileHTTP2Server.run([Self.refusals[refusal], Script(response: Self.ok)]) { transport, server in
            let body = method == .get ? RequestBody.none : .data(Data(count: 100_000))
            let call = Endpoint.request(method, "x", body: body).withoutRetries()
            _ = try await Self.client(transport, server.url).send(call)
            #expect(server.requests == 2)
        }
    }

    @Test func `a request that is refused twice fails, and says that it was not processed`() async throws {
        try await HostileHTTP2Server.run([Script(response: [.reset(7)])]) { transport, server in
            let error = await #expect(throws: NetworkError.self) {
                try await Self.client(transport, server.url).send(Endpoint<Data>.post("x", body: .data(Data("x".utf8))))
            }
            #expect(error?.code == .connectionFailed)
            #expect(error.map { "\($0)" }?.contains("before it processed it") == true)
            #expect(server.requests == 2)
        }
    }

    @Test(arguments: [
        Script(response: [.reset(8)]), Script(response: [.reset(2)]),
        Script(response: [.goAway(last: .max), .reset(8)]),
        Script(response: [.status("200"), .reset(7)]),
    ])
    func `a request that may have been processed is sent once`(script: Script) async throws {
        try await HostileHTTP2Server.run([script]) { transport, server in
            await #expect(throws: NetworkError.self) {
                try await Self.client(transport, server.url).send(Endpoint<Data>.post("x", body: .data(Data("x".utf8))))
            }
            #expect(server.requests == 1)
        }
    }

    @Test func `a refused request with a one-shot body is sent once`() async throws {
        try await HostileHTTP2Server.run([Script(response: [.reset(7)])]) { transport, server in
            let body = RequestBody.oneShot(AsyncStream([Data("x".utf8)]))
            await #expect(throws: NetworkError.self) {
                try await Self.client(transport, server.url).send(Endpoint<Data>.put("x", body: body))
            }
            #expect(server.requests == 1)
        }
    }

    @Test func `a GET is sent once more when a kept connection of HTTP/2 closes under it`() async throws {
        let closing = Script(response: Self.ok, later: [.closeConnection])
        try await HostileHTTP2Server.run([closing, Script(response: Self.ok)]) { transport, server in
            let client = Self.client(transport, server.url)
            for count in [1, 3] {
                let body = try await client.send(Endpoint<Data>.get("x"))
                #expect(body == Data("ok".utf8))
                #expect(server.requests == count)
            }
        }
    }
}
#endif
