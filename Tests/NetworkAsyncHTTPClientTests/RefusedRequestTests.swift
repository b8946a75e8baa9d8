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

    /// What a server sends, whether the body of the request can be read once only, and how often it is sent.
    @Test(arguments: [
        (Script(response: [.reset(7)]), false, 2), (Script(response: [.reset(7)]), true, 1),
        (Script(response: [.reset(8)]), false, 1), (Script(response: [.reset(2)]), false, 1),
        (Script(response: [.goAway(last: .max), .reset(8)]), false, 1),
        (Script(response: [.status("200"), .reset(7)]), false, 1),
    ])
    func `a request is sent twice at most, and once if it may have been processed or cannot be read again`(
        script: Script, isOneShot: Bool, count: Int
    ) async throws {
        try await HostileHTTP2Server.run([script]) { transport, server in
            let body = isOneShot ? .oneShot(AsyncStream([Data("x".utf8)])) : RequestBody.data(Data("x".utf8))
            let call = Endpoint.request(isOneShot ? .put : .post, "x", body: body)
            let error = await #expect(throws: NetworkError.self) {
                try await Self.client(transport, server.url).send(call)
            }
            #expect(server.requests == count)
            guard count == 2 else { return }
            #expect(error?.code == .connectionFailed)
            #expect(error.map { "\($0)" }?.contains("before it processed it") == true)
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
