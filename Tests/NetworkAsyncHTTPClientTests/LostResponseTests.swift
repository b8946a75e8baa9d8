#if AsyncHTTPClient
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import NetworkCore
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
        defer { peer.stop() }
        let client = peer.client(over: subject.transport)
        for body in [RequestBody.none, .data(Data("x".utf8)), .oneShot(AsyncStream([Data("x".utf8)]))] {
            peer.reset()
            let error = await #expect(throws: NetworkError.self) {
                try await client.send(.request(method, "lost", body: body))
            }
            #expect(error?.code == .connectionFailed)
            let text = error.map(String.init(describing:)) ?? ""
            #expect(text.contains("the server may have processed the request"), "\(text)")
            #expect(peer.lost == 1)
        }
    }

    @Test(arguments: Subject.allCases, [HTTPMethod.get, .put, .delete, .post])
    func `a call that may happen twice is sent again by the retry policy`(
        over subject: Subject, method: HTTPMethod
    ) async throws {
        let peer = try LosingPeer(losing: 2)
        defer { peer.stop() }
        let client = peer.client(over: subject.transport)
        peer.reset()
        let body = method == .get ? RequestBody.none : .data(Data("x".utf8))
        var call = Endpoint.request(method, "lost", body: body)
        if method == .post { call = call.idempotent(key: "key") }
        _ = try await client.send(call)
        let sent = peer.peer.requests.filter { $0.target == "/lost" }
        #expect(sent.count == 3)
        #expect(sent.allSatisfy { $0["Idempotency-Key"] == (method == .post ? "key" : nil) })
        #expect(sent.allSatisfy { $0.body == (method == .get ? Data() : Data("x".utf8)) })
    }

    @Test(arguments: Subject.allCases)
    func `a refresh whose response is lost is sent once, and is no refusal`(over subject: Subject) async throws {
        let peer = try LosingPeer(losing: 1)
        defer { peer.stop() }
        let client = peer.client(over: subject.transport)
        peer.reset()
        let call = Endpoint.request(.post, "lost", body: .data(Data("token".utf8)))
        let error = await #expect(throws: NetworkError.self) { try await client.send(call.allowingLateResponse()) }
        #expect(error?.code == .connectionFailed)
        #expect(error?.statusOfWholeResponse == nil)
        #expect(error?.isRefusalOfTheCall == false)
        #expect(peer.lost == 1)
    }
}

/// A server that responds to every request, but for the first ones to `/lost`, after which it closes the connection.
private final class LosingPeer: Sendable {
    let peer: TransportPeer
    private let count: Locked<Int>

    init(losing: Int) throws {
        let count = Locked(0)
        self.count = count
        peer = try TransportPeer { connection in
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

    func stop() { peer.stop() }

    func client(over transport: any HTTPTransport) -> NetworkClient {
        NetworkClient(
            baseURL: peer.url, transport: WarmTransport(next: transport, url: peer.url.appendingPathComponent("warm")),
            interceptors: [RetryPolicy(attempts: 3, baseDelay: .milliseconds(1))])
    }
}

/// Sends a `GET` before each request, so that the pool has a connection.
private struct WarmTransport: HTTPTransport {
    let next: any HTTPTransport
    let url: URL

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let warm = try await next.perform(HTTPTransportRequest(head: HTTPRequestHead(url: url), isIdempotent: true))
        _ = try await warm.body.collect(upTo: 10)
        return try await next.perform(request)
    }
}
#endif
