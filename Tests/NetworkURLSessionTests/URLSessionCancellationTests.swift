import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import Testing

@testable import NetworkURLSession

@Suite("URLSessionTransport and cancellation", .timeLimit(.minutes(10)))
struct URLSessionCancellationTests {
    let transport = URLSessionTransport()

    func request(_ url: URL, method: String = "GET") -> HTTPTransportRequest {
        let head = HTTPRequestHead(method: HTTPMethod(rawValue: method), url: url)
        return HTTPTransportRequest(head: head)
    }

    @Test(arguments: ["GET", "POST"])
    func `a request that is cancelled before the response returns at once`(method: String) async throws {
        let arrived = Gate(isOpen: true)
        let server = try LoopbackServer { _ in
            Task { await arrived.pass() }
            return .hold
        }
        defer { server.stop() }
        let task = Task { try await transport.perform(request(server.url, method: method)) }
        await arrived.arrivals(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a request that is cancelled while the body arrives returns at once`() async throws {
        let server = try LoopbackServer { _ in
            .rawThenHold(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
        }
        defer { server.stop() }
        let firstPiece = Gate(isOpen: true)
        let task = Task {
            for try await _ in try await transport.perform(request(server.url)).body { await firstPiece.pass() }
        }
        await firstPiece.arrivals(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ["GET", "POST"])
    func `a request that is cancelled before it starts sends nothing`(method: String) async throws {
        let server = try LoopbackServer { _ in .respond(200) }
        defer { server.stop() }
        // More requests than cold connections: no connection may stay occupied.
        for _ in 0..<(2 * URLSessionTransport.coldConnectionLimit) {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.perform(request(server.url, method: method))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await transport.perform(request(server.url, method: method)).head.status == 200)
        #expect(server.requests.count == 1)
    }

    @Test func `releasing the body ends the exchange`() async throws {
        let server = try LoopbackServer { _ in
            .rawThenHold(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
        }
        defer { server.stop() }
        // One connection per host: a second request succeeds only if the first connection has been freed.
        var limits = URLSessionTransport.Limits()
        limits.connectionsPerHost = 1
        let transport = URLSessionTransport(limits: limits)
        for _ in 0..<3 {
            let head = try await transport.perform(request(server.url)).head
            #expect(head.status == 200)
        }
    }
}
