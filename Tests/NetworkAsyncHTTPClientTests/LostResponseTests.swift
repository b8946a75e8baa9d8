#if AsyncHTTPClient
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkTesting

/// Requests that are sent again, and those that must not be: a server reads a request on a kept connection and closes
/// it without a response, or refuses it before it has processed it.
@Suite(.timeLimit(.minutes(20))) struct LostResponseTests {
    enum Subject: CaseIterable {
        case asyncHTTPClient, urlSession

        var transport: any HTTPTransport {
            switch self {
            case .asyncHTTPClient: AsyncHTTPClientTransport()
            case .urlSession: URLSessionTransport()
            }
        }
    }

    @Test(arguments: Subject.allCases, [HTTPMethod.post, .patch])
    func `a call that must not happen twice is sent once, and the error says that it may have happened`(
        over subject: Subject, method: HTTPMethod
    ) async throws {
        for body in [RequestBody.none, .data(Data("x".utf8)), .oneShot(AsyncStream([Data("x".utf8)]))] {
            let call = Endpoint.request(method, "lost", body: body)
            // A refresh is no more repeated than a call, and its loss is no refusal.
            for call in method == .post && body.isReplayable ? [call, call.allowingLateResponse()] : [call] {
                let peer = try LosingPeer(losing: 1)
                let client = peer.client(over: subject.transport)
                let error = await networkError { try await client.send(call) }
                #expect(error?.code == .connectionFailed)
                let text = error.map(String.init(describing:)) ?? ""
                #expect(text.contains("the server may have processed the request"), "\(text)")
                #expect(error?.statusOfWholeResponse == nil && error?.isRefusalOfTheCall == false)
                #expect(peer.lost == 1)
            }
        }
    }

    @Test(arguments: Subject.allCases, [HTTPMethod.get, .put, .delete, .post])
    func `a call that may happen twice is sent again by the retry policy`(
        over subject: Subject, method: HTTPMethod
    ) async throws {
        let peer = try LosingPeer(losing: 2)
        let client = peer.client(over: subject.transport)
        let body = method == .get ? RequestBody.none : .data(Data("x".utf8))
        var call = Endpoint.request(method, "lost", body: body)
        if method == .post { call = call.idempotent(key: "key") }
        _ = try await client.send(call)
        let sent = peer.peer.requests.filter { $0.target == "/lost" }
        #expect(peer.lost == 3)
        #expect(sent.allSatisfy { $0["Idempotency-Key"] == (method == .post ? "key" : nil) })
        #expect(sent.allSatisfy { $0.body == (method == .get ? Data() : Data("x".utf8)) })
    }

    /// How many responses are lost, whether the caller wants a retry, and how often the request is sent.
    @Test(arguments: [
        (Subject.asyncHTTPClient, 1, true, 2), (.urlSession, 1, true, 2), (.asyncHTTPClient, 10, true, 2),
        (.asyncHTTPClient, 10, false, 1),
    ])
    func `without a retry policy, a GET on a kept connection that closes is sent once more, if the caller wants it`(
        over subject: Subject, losing: Int, retries: Bool, sent: Int
    ) async throws {
        let peer = try LosingPeer(losing: losing)
        var call = Endpoint.request(.get, "lost")
        call.settings.retries = retries
        let client = peer.client(over: subject.transport, retries: false)
        if losing == 1 {
            _ = try await client.send(call)
        } else {
            #expect(await networkError { try await client.send(call) }?.code == .connectionFailed)
        }
        #expect(peer.lost == sent)
    }

    @Test(arguments: [("begun", true), ("lost", false)])
    func `a GET is sent once when a byte of its response has arrived, or its connection is new`(
        path: String, isWarm: Bool
    ) async throws {
        let peer = try LoopbackPeer { connection in
            while let request = connection.readRequest() {
                if request.target == "/begun" { connection.send("H") }
                guard request.target == "/warm", connection.respond() else { return }
            }
        }
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport()
        let warm = WarmTransport(next: transport, url: peer.url.appendingPathComponent("warm"))
        let client = NetworkClient(baseURL: peer.url, transport: isWarm ? warm : transport)
        let call = Endpoint.request(.get, EndpointPath(stringLiteral: path))
        await #expect(throws: NetworkError.self) { try await client.send(call) }
        #expect(peer.requests.count { $0.target != "/warm" } == 1)
    }

    // MARK: RFC 9113 §8.7: a request that the server says it has not processed

    private static let ok: [FrameScript.Frame] = [.status("200"), .data("ok", ends: true)]

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

/// A server that responds to every request, but for the first ones to `/lost`, after which it closes the connection.
private final class LosingPeer: Sendable {
    let peer: LoopbackPeer
    private let count = Locked(0)

    init(losing: Int) throws {
        peer = try LoopbackPeer { [count] connection in
            while let request = connection.readRequest() {
                let isLost = count.withLock { count in
                    guard request.target == "/lost" else { return false }
                    count += 1
                    return count <= losing
                }
                guard !isLost, connection.respond() else { return }
            }
        }
    }

    /// The requests to `/lost`.
    var lost: Int { peer.requests.count { $0.target == "/lost" } }

    deinit { peer.stop() }

    func client(over transport: any HTTPTransport, retries: Bool = true) -> NetworkClient {
        NetworkClient(
            baseURL: peer.url, transport: WarmTransport(next: transport, url: peer.url.appendingPathComponent("warm")),
            interceptors: retries ? [RetryPolicy(attempts: 3, baseDelay: .milliseconds(1))] : [])
    }
}

/// Sends a `GET` before each request, so that the pool has a connection.
private struct WarmTransport: HTTPTransport {
    let next: any HTTPTransport
    let url: URL

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let warm = try await next.perform(HTTPTransportRequest(head: HTTPRequestHead(url: url)))
        _ = try await warm.body.collect(upTo: 10)
        return try await next.perform(request)
    }
}
#endif
