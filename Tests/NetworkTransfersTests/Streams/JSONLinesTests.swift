import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

@Suite("JSON lines", .timeLimit(.minutes(10)))
struct JSONLinesTests {
    let servers = LoopbackServers()
    let export = Endpoint<Article>.get("export")

    func read(_ text: String, limit: Int = 1_000, type: String = "application/x-ndjson") async throws -> [Article] {
        let server = try servers.start { _ in .respond(200, headers: ["Content-Type": type], body: Data(text.utf8)) }
        return try await server.client.lines(export, maximumLineLength: limit).reduce(into: []) { $0.append($1) }
    }

    @Test func `a path is read as an event stream and as JSON lines`() async throws {
        let line = "{\"id\":1,\"title\":\"x\"}\n"
        let transport = StubTransport(
            .any ~> .status(200, headers: ["Content-Type": "text/event-stream"], body: Data("data: 1\n\n".utf8)),
            .any ~> .status(204),
            .any ~> .status(200, headers: ["Content-Type": "application/x-ndjson"], body: Data(line.utf8)))
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        var options = EventStreamOptions()
        options.backoff = Backoff(base: .zero, limit: .zero, floor: .zero)
        let events = client.events("feed", query: ["since": 2], options: options)
        #expect(try await events.reduce(into: []) { $0.append($1.data) } == ["1"])
        let articles = client.lines("export", of: Article.self)
        #expect(try await articles.reduce(into: []) { $0.append($1) } == [Article(id: 1, title: "x")])
        #expect(transport.requests.first?.url?.absoluteString.hasSuffix("feed?since=2") == true)
    }

    @Test func `each line is a value; empty lines and the end of the last one do not matter`() async throws {
        let text =
            "\u{FEFF}{\"id\":1,\"title\":\"a\"}\r\n\n  \n{\"id\":2,\"title\":\"b\\n\"}\n{\"id\":3,\"title\":\"c\"}"
        #expect(try await read(text).map(\.id) == [1, 2, 3])
        #expect(try await read("").isEmpty)
    }

    @Test func `a line over the limit is an error, after the lines before it`() async throws {
        let line = "{\"id\":1,\"title\":\"\(String(repeating: "x", count: 2_000))\"}\n"
        #expect(await networkError { try await read(line) }?.code == .responseTooLarge)
        var splitter = LineSplitter(limit: 10)
        splitter.take(Data("1\n2\n\(line)3\n".utf8))
        for number in ["1", "2"] { #expect(try splitter.next() == Array(number.utf8)) }
        for _ in 1...2 {
            let error = #expect(throws: NetworkError.self) { try splitter.next() }
            #expect(error?.code == .responseTooLarge)
        }
    }

    /// What follows the first line, the length of the body, and the error.
    @Test(arguments: [
        ("{\"id\":", nil, NetworkError.Code.decodingFailed),
        (String(repeating: "x", count: 2_000) + "\n", nil, .responseTooLarge), ("", 1_000, .connectionFailed),
    ])
    func `a value is delivered although an error follows it in the same piece`(
        rest: String, length: Int?, code: NetworkError.Code
    ) async throws {
        let text = "{\"id\":1,\"title\":\"a\"}\n" + rest
        let server = try servers.start { _ in
            .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: \(length ?? text.utf8.count)\r\n\r\n\(text)".utf8))
        }
        var iterator = server.client.lines(export, maximumLineLength: 1_000).makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let error = try await #require(throws: NetworkError.self) { try await iterator.next() }
        #expect(error.code == code && error.status == 200)
        #expect(try await iterator.next() == nil)
    }

    @Test func `a page is refused`() async throws {
        #expect(await networkError { try await read("<html>", type: "text/html") }?.code == .decodingFailed)
    }

    @Test func `an error of the response keeps what it says`() async throws {
        let request = RequestSummary(HTTPRequestHead(url: url("https://example.com/export")))
        let lines = JSONLines<Article>(coding: .standard, limit: 1_000) {
            let body = HTTPBody(pull: {
                var error = NetworkError(
                    .timedOut, reason: "slow", waitedFor: .responseBody, retryAfter: .seconds(3))
                (error.request, error.attempt, error.elapsed) = (request, 2, .seconds(9))
                throw error
            })
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
        }
        var iterator = lines.makeAsyncIterator()
        let error = try await #require(throws: NetworkError.self) { try await iterator.next() }
        #expect(error.code == .timedOut && error.reason == "slow" && error.status == 200)
        #expect(error.waitedFor == .responseBody && error.retryAfter == .seconds(3))
        #expect(error.attempt == 2 && error.elapsed == .seconds(9) && error.request != nil)
    }
}
