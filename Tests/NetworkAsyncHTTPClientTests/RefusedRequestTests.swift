#if AsyncHTTPClient
import AuthInterface
import Foundation
import NetworkCore
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkTesting

/// RFC 9113 §8.7: a request that the server says it has not processed is sent again with any method, and once.
@Suite(.timeLimit(.minutes(20))) struct RefusedRequestTests {
    typealias Frame = FrameScript.Frame

    private static let ok: [Frame] = [.status("200"), .data("ok", ends: true)]

    /// How a server refuses, for its first request.
    private static let refusals: [FrameScript] = [
        FrameScript(response: [.reset(7)], later: ok), FrameScript(response: [.goAway(last: 0)]),
        FrameScript(response: [.goAway(last: 0)], closes: true),
        FrameScript(response: [.status("103"), .reset(7)], later: ok),
    ]

    @Test(arguments: 0..<refusals.count, [HTTPMethod.get, .post])
    func `a refused request is sent once more`(refusal: Int, method: HTTPMethod) async throws {
        try await TLSServer.run([Self.refusals[refusal], FrameScript(response: Self.ok)]) { transport, server in
            let body = method == .get ? RequestBody.none : .data(Data(count: 100_000))
            let call = Endpoint.request(method, "x", body: body).withoutRetries()
            _ = try await NetworkClient(baseURL: server.url, transport: transport).send(call)
            #expect(server.requests == 2)
        }
    }

    /// What a server sends, whether the body of the request can be read once only, and how often it is sent.
    @Test(arguments: [
        (FrameScript(response: [.reset(7)]), false, 2), (FrameScript(response: [.reset(7)]), true, 1),
        (FrameScript(response: [.reset(8)]), false, 1), (FrameScript(response: [.reset(2)]), false, 1),
        (FrameScript(response: [.goAway(last: .max), .reset(8)]), false, 1),
        (FrameScript(response: [.status("200"), .reset(7)]), false, 1),
    ])
    func `a request is sent twice at most, and once if it may have been processed or cannot be read again`(
        script: FrameScript, isOneShot: Bool, count: Int
    ) async throws {
        try await TLSServer.run([script]) { transport, server in
            let body = isOneShot ? .oneShot(AsyncStream([Data("x".utf8)])) : RequestBody.data(Data("x".utf8))
            let call = Endpoint.request(isOneShot ? .put : .post, "x", body: body)
            let client = NetworkClient(baseURL: server.url, transport: transport)
            let error = await #expect(throws: NetworkError.self) { try await client.send(call) }
            #expect(server.requests == count)
            guard count == 2 else { return }
            #expect(error?.code == .connectionFailed)
            #expect(error.map { "\($0)" }?.contains("before it processed it") == true)
        }
    }

    @Test func `a GET is sent once more when a kept connection of HTTP/2 closes under it`() async throws {
        let closing = FrameScript(response: Self.ok, later: [.closeConnection])
        try await TLSServer.run([closing, FrameScript(response: Self.ok)]) { transport, server in
            let client = NetworkClient(baseURL: server.url, transport: transport)
            for count in [1, 3] {
                let body = try await client.send(Endpoint<Data>.get("x"))
                #expect(body == Data("ok".utf8))
                #expect(server.requests == count)
            }
        }
    }
}
#endif
