#if AsyncHTTPClient
import ContractTesting
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkTestSupport
import Testing
import NetworkURLSession

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
            peer.reset()
            let error = await networkError { try await client.send(.request(method, "lost", body: body)) }
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

    @Test(arguments: Subject.allCases)
    func `a GET is sent once more, without a retry policy, when a kept connection closes under it`(
        over subject: Subject
    )
        async throws
    {
        let peer = try LosingPeer(losing: 1)
        let client = peer.client(over: subject.transport, retries: false)
        _ = try await client.send(.request(.get, "lost"))
        #expect(peer.peer.requests.count { $0.target == "/lost" } == 2)
    }

    @Test func `a GET is sent twice at most, and once where the caller wants no retry`() async throws {
        for (retries, sent) in [(true, 2), (false, 1)] {
            let peer = try LosingPeer(losing: 10)
            let client = peer.client(over: AsyncHTTPClientTransport(), retries: false)
            var call = Endpoint.request(.get, "lost")
            call.settings.retries = retries
            #expect(await networkError { try await client.send(call) }?.code == .connectionFailed)
            #expect(peer.lost == sent)
        }
    }

    @Test func `a GET is sent once when a byte of its response has arrived, or its connection is new`() async throws {
        let lost = Locked(0)
        let peer = try LoopbackPeer { connection in
            while let request = connection.readRequest() {
                if request.target == "/warm" {
                    connection.respond()
                } else {
                    lost.withLock { $0 += 1 }
                    if request.target == "/begun" { connection.send("H") }
                    return
                }
            }
        }
        defer { peer.stop() }
        for (path, isWarm) in [("begun", true), ("lost", false)] {
            lost.withLock { $0 = 0 }
            let url = peer.url.appendingPathComponent("warm")
            let transport = AsyncHTTPClientTransport()
            let client = NetworkClient(
                baseURL: peer.url, transport: isWarm ? WarmTransport(next: transport, url: url) : transport)
            let call = Endpoint.request(.get, EndpointPath(stringLiteral: path))
            await #expect(throws: NetworkError.self) { try await client.send(call) }
            #expect(lost.withLock { $0 } == 1)
        }
    }

    @Test(arguments: Subject.allCases)
    func `a refresh whose response is lost is sent once, and is no refusal`(over subject: Subject) async throws {
        let peer = try LosingPeer(losing: 1)
        let client = peer.client(over: subject.transport)
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
    let peer: LoopbackPeer
    private let count: Locked<Int>

    init(losing: Int) throws {
        let count = Locked(0)
        self.count = count
        peer = try LoopbackPeer { connection in
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
