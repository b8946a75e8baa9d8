import AuthInterface
import AuthTesting
import Foundation
import Testing

@testable import NetworkCore

@Suite("URLSessionTransport and cancellation", .timeLimit(.minutes(10)))
struct URLSessionCancellationTests {
    let transport = URLSessionTransport()

    func request(_ url: URL, method: String = "GET") -> HTTPTransportRequest {
        let head = HTTPRequestHead(method: HTTPMethod(rawValue: method), url: url)
        return HTTPTransportRequest(head: head, isIdempotent: method == "GET")
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
        let transport = URLSessionTransport(connectionsPerHost: 1)
        for _ in 0..<3 {
            let head = try await transport.perform(request(server.url)).head
            #expect(head.status == 200)
        }
    }
}

@Suite("URLSessionExchange")
struct URLSessionExchangeTests {
    func exchange(_ request: HTTPTransportRequest, ends: Recorder<Bool> = Recorder()) -> URLSessionExchange {
        var request = request
        let report = request.onEvent
        request.onEvent = { event in
            report?(event)
            if event.kind == .metrics { ends.record(true) }
        }
        let upload = request.body.data.map { URLSessionUpload.data($0) } ?? .none
        return URLSessionExchange(request, upload: upload, clock: ManualTimeSource())
    }

    @Test func `progress never decreases`() {
        let reported = Recorder<TransferProgress>()
        let body = HTTPBody(Data(repeating: 7, count: 10))
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: baseURL), body: body) { event in
            if let sent = event.progress { reported.record(sent) }
        }
        let exchange = exchange(request)
        for sent in [4, 2, 4, 10, 0] as [Int64] { exchange.noteSent(sent) }
        #expect(reported.values == [4, 10].map { TransferProgress(completed: $0, total: 10) })
    }

    @Test func `pieces that have arrived are read before an error is thrown`() async throws {
        let exchange = exchange(HTTPTransportRequest(head: HTTPRequestHead(url: baseURL)))
        exchange.receive(Data("a".utf8))
        exchange.receive(Data("b".utf8))
        exchange.complete(with: URLError(.networkConnectionLost))
        #expect(try await exchange.next() == Data("a".utf8))
        #expect(try await exchange.next() == Data("b".utf8))
        await #expect(throws: HTTPTransportError.self) { try await exchange.next() }
    }

    @Test func `an exchange ends once`() async throws {
        let ends = Recorder<Bool>()
        let exchange = exchange(HTTPTransportRequest(head: HTTPRequestHead(url: baseURL)), ends: ends)
        exchange.noteWhole()
        exchange.fail(CancellationError())
        exchange.complete(with: URLError(.cancelled))
        #expect(try await exchange.next() == nil)
        #expect(ends.values == [true])
    }
}

@Suite("Queue")
struct QueueTests {
    @Test func `a queue keeps its order through many additions and removals`() {
        var queue = Queue<Int>()
        var taken: [Int] = []
        for number in 0..<10_000 {
            queue.append(number)
            if number % 3 != 0, let next = queue.popFirst() { taken.append(next) }
        }
        while let next = queue.popFirst() { taken.append(next) }
        #expect(taken == Array(0..<10_000))
        #expect(queue.isEmpty)
    }
}
