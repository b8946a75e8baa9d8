import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

@Suite("Bodies over URLSession", .timeLimit(.minutes(10)))
struct URLSessionBodyTests {
    let servers = LoopbackServers()
    let transport = URLSessionTransport()

    func request(_ url: URL, body: HTTPBody = .none, timeout: Duration = .seconds(300)) -> HTTPTransportRequest {
        let head = HTTPRequestHead(method: body.isEmpty ? .get : .post, url: url)
        return HTTPTransportRequest(head: head, body: body, idleTimeout: timeout)
    }

    @Test func `a file that shrinks while it is sent is named as the reason`() async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 100_000))
        let body = try HTTPBody(file: file.url)
        try Data(repeating: 7, count: 10).write(to: file.url)
        let server = try servers.start { _ in .hold }
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.perform(request(server.url, body: body, timeout: .milliseconds(100)))
        }
        #expect(error?.reason == "the file changed while it was read")
    }

    @Test(arguments: [1_000, 100_000, 200_000])
    func `a file that is written while it is sent is an error, though there is a response`(size: Int) async throws {
        let file = try TemporaryFile(Data(repeating: 1, count: 100_000))
        let server = try servers.start { _ in
            try? Data(repeating: 2, count: size).write(to: file.url)
            return .respond(200)
        }
        let client = NetworkClient(baseURL: server.url, transport: transport)
        let error = try #require(
            await networkError { try await client.send(Endpoint<Data>.put("file", body: .file(file.url))) })
        #expect(error.code == .encodingFailed && "\(error)".contains("changed"))
    }

    @Test func `a file that is written while a form with it is read is an error`() async throws {
        let file = try TemporaryFile(Data(repeating: 1, count: 200_000))
        let body = try HTTPBody(file: file.url)
        await #expect(throws: HTTPBodyError.self) {
            for try await _ in body { try Data(repeating: 2, count: 200_000).write(to: file.url) }
        }
    }

    @Test func `a response that nothing reads fails when too much of it waits`() async throws {
        let server = try servers.start { _ in .respond(200, body: Data(repeating: 7, count: 8 * 1_024 * 1_024)) }
        var limits = URLSessionTransport.Limits()
        limits.unreadBytes = 1_024 * 1_024
        let transport = URLSessionTransport(limits: limits)
        let response = try await transport.perform(request(server.url))
        let error = await #expect(throws: HTTPTransportError.self) { try await response.completion() }
        #expect(error?.reason.contains("faster than it is read") == true)
    }
}
