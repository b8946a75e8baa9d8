import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import Testing

@Suite("URLSessionTransport and cancellation", .timeLimit(.minutes(10)))
struct URLSessionCancellationTests {
    let transport = URLSessionTransport()

    func request(_ url: URL, method: String = "GET") -> HTTPTransportRequest {
        let head = HTTPRequestHead(method: HTTPMethod(rawValue: method), url: url)
        return HTTPTransportRequest(head: head, isIdempotent: method == "GET")
    }

    @Test(arguments: ["GET", "POST"])
    func returnsAtOnceWhenCancelledBeforeTheAnswer(method: String) async throws {
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

    @Test func returnsAtOnceWhenCancelledWhileTheBodyArrives() async throws {
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
    func sendsNothingWhenCancelledBeforeItBegins(method: String) async throws {
        let server = try LoopbackServer { _ in .respond(200) }
        defer { server.stop() }
        // More often than there are cold connections: none may stay occupied.
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

    @Test func endsTheExchangeWhenNobodyReadsOn() async throws {
        let server = try LoopbackServer { _ in
            .rawThenHold(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
        }
        defer { server.stop() }
        // One connection a host: a second request gets through only if the first one's connection is given up.
        let transport = URLSessionTransport(connectionsPerHost: 1)
        for _ in 0..<3 {
            let head = try await transport.perform(request(server.url)).head
            #expect(head.status == 200)
        }
    }
}
