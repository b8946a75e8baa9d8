import ContractTesting
import Foundation
import NetworkCore
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@Suite("Streamed responses", .timeLimit(.minutes(10)))
struct StreamTests {
    @Test func `the head returns before the body has arrived, and the body is read in pieces`() async throws {
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let response = StubResponse { request in
            HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: HTTPBody(once: pieces))
        }
        let client = NetworkClient(StubTransport(responding: response))
        let stream = try await client.stream(Endpoint<Void>.get("feed"))
        #expect(stream.head.status == 200)
        source.yield(Data("a".utf8))
        var iterator = stream.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        source.yield(Data("b".utf8))
        source.finish()
        #expect(try await iterator.next() == Data("b".utf8))
        #expect(try await iterator.next() == nil)
        await #expect(throws: HTTPBodyError.self) { try await stream.body.collect(upTo: 10) }
    }

    @Test func `a refused token is replaced before the stream starts`() async throws {
        let transport = StubTransport(responding: .status(401), .status(200, body: Data("body".utf8)))
        let network = NetworkClient(transport).authenticated(by: ScriptedTokenProvider())
        let stream = try await network.stream(Endpoint<Void>.get("feed"))
        #expect(try await stream.body.collect(upTo: 10) == Data("body".utf8))
        #expect(transport.sent("Authorization") == ["Bearer access-0", "Bearer access-1"])
    }

    @Test func `a status that is not accepted is an error with what the server said`() async throws {
        let client = NetworkClient(StubTransport(responding: .error(404, code: "NOT_FOUND")))
        let error = try await #require(throws: NetworkError.self) { try await client.stream(Endpoint<Void>.get("x")) }
        #expect(error.status == 404 && error.serverError?.code == "NOT_FOUND")
    }

    @Test func `a body that breaks off is an error of the call`() async throws {
        let server = try LoopbackServer { _ in .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)) }
        defer { server.stop() }
        let client = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        let stream = try await client.stream(Endpoint<Void>.get("x"))
        let error = try await #require(throws: NetworkError.self) { try await stream.body.collect(upTo: 100) }
        #expect(error.status == 200 && error.request?.method == .get)
    }
}
