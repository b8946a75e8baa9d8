import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import TestSupport
import Testing

@testable import NetworkURLSession

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
        #expect(error?.code == .readTooSlowly && error?.reason.contains("faster than it is read") == true)
    }

    #if canImport(FoundationNetworking)
    @Test func `a sequence is in a file that only this user can read, until it is discarded`() async throws {
        let content = Data("sequence".utf8)
        let body = HTTPBody { content.pieces }
        let upload = try await URLSessionUpload(body, within: nil, DeadlineQueue(clock: ManualTimeSource()))
        guard case .file(let url, _, 8, isTemporary: true) = upload else {
            Issue.record("the sequence is in no temporary file: \(upload)")
            return
        }
        #expect(try Data(contentsOf: url) == content)
        let permissions = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
        #expect(permissions?.intValue == 0o600)
        upload.discard()
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `a file of the caller's is not discarded`() async throws {
        let file = try TemporaryFile(Data("kept".utf8))
        let deadlines = DeadlineQueue(clock: ManualTimeSource())
        let upload = try await URLSessionUpload(HTTPBody(file: file.url), within: nil, deadlines)
        upload.discard()
        #expect(FileManager.default.fileExists(atPath: file.url.path))
    }

    @Test func `a sequence that does not end is waited for until the time limit`() async throws {
        let clock = ManualTimeSource()
        let body = HTTPBody { AsyncStream<Data> { _ in } }
        let deadlines = DeadlineQueue(clock: clock, grace: .zero)
        let upload = Task { try await URLSessionUpload(body, within: .seconds(5), deadlines) }
        try await clock.advance(by: .seconds(5), whenAsleep: 1)
        let error = await #expect(throws: HTTPTransportError.self) { _ = try await upload.value }
        #expect(error?.code == .timedOut && error?.waitedFor == .requestBody)
    }
    #endif
}
