#if AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkTesting

/// A server that reads a request on a kept connection and closes it without a response.
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
        let peer = try LosingPeer(losing: 1)
        let client = peer.client(over: subject.transport)
        for body in [RequestBody.none, .data(Data("x".utf8)), .oneShot(AsyncStream([Data("x".utf8)]))] {
            let call = Endpoint.request(method, "lost", body: body)
            // A refresh is no more repeated than a call, and its loss is no refusal.
            for call in method == .post && body.isReplayable ? [call, call.allowingLateResponse()] : [call] {
                peer.reset()
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
        #expect(sent.count == 3)
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

    /// The requests to `/lost` since ``reset()``.
    var lost: Int { count.withLock { $0 } }

    func reset() { count.withLock { $0 = 0 } }

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
