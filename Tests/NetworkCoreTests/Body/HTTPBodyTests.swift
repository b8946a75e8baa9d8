import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCore

@Suite("HTTPBody and RequestBody", .timeLimit(.minutes(10)))
struct HTTPBodyTests {
    func read(_ body: HTTPBody) async throws -> Data { try await body.reduce(into: Data()) { $0 += $1 } }

    @Test(arguments: ["data", "file", "closure"])
    func `a body of data, of a file or of a closure is read again in full`(kind: String) async throws {
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = try TemporaryFile(content)
        let body: HTTPBody =
            switch kind {
            case "data": HTTPBody(content)
            case "file": try HTTPBody(file: file.url)
            default: HTTPBody(length: 200_000) { content.pieces }
            }
        #expect(body.isReplayable && body.length == 200_000)
        #expect((body.data != nil) == (kind == "data") && (body.file != nil) == (kind == "file"))
        for _ in 0..<2 { #expect(try await read(body) == content) }
    }

    @Test func `a bare sequence is read once, and a second reader is told so`() async throws {
        let body = HTTPBody(once: Data("once".utf8).pieces)
        #expect(!body.isReplayable)
        #expect(try await read(body) == Data("once".utf8))
        let error = try await #require(throws: HTTPBodyError.self) { try await read(body) }
        #expect(error.code == .alreadyRead && error.reason.contains("make it of a closure"))
        let part = try RequestBody.oneShot(Data("x".utf8).pieces).encoded(by: .standard)
        _ = try await read(part)
        let second = try await #require(throws: HTTPBodyError.self) { try await read(part) }
        #expect(try NetworkError(describing: second).code == .bodyNotReplayable)
    }

    @Test func `of two readers at once, one reads everything and the other fails`() async throws {
        for _ in 0..<100 {
            let body = HTTPBody(once: Data("once".utf8).pieces)
            let outcomes = await withTaskGroup(of: Data?.self) { group in
                for _ in 0..<2 { group.addTask { try? await self.read(body) } }
                return await group.reduce(into: [Data?]()) { $0.append($1) }
            }
            #expect(outcomes.compactMap(\.self) == [Data("once".utf8)])
        }
    }

    @Test(arguments: [3, 5])
    func `another number of bytes than announced is an error`(length: Int64) async throws {
        let (four, once) = (HTTPBody(length: length) { Data("four".utf8).pieces }, Data("four".utf8).pieces)
        for body in [four, HTTPBody(once: once, length: length)] {
            let error = await #expect(throws: HTTPBodyError.self) { try await read(body) }
            #expect(error?.code == .wrongLength)
        }
    }

    @Test(arguments: [10, 200_000])
    func `a file whose size changes is an error`(size: Int) async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 100_000))
        let body = try HTTPBody(file: file.url)
        try Data(repeating: 7, count: size).write(to: file.url)
        let error = await #expect(throws: HTTPBodyError.self) { try await read(body) }
        #expect(error?.code == .wrongLength)
    }

    @Test func `a symbolic link is sent as the file that it names`() async throws {
        let content = Data(repeating: 7, count: 5_000)
        let file = try TemporaryFile(content)
        let link = file.url.deletingLastPathComponent().appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file.url)
        let body = try HTTPBody(file: link)
        #expect(body.length == 5_000)
        #expect(try await read(body) == content)
        var form = MultipartForm()
        form.append("file", file: link, contentType: "application/octet-stream")
        let encoder = try MultipartEncoder(form)
        #expect(try encoder.data().count == Int(encoder.length) && encoder.length > 5_000)

        let server = try LoopbackServer { _ in .respond(204) }
        defer { server.stop() }
        let client = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        try await client.send(Endpoint<Void>.put("file", body: .file(link, contentType: "application/octet-stream")))
        #expect(server.requests.map(\.body) == [content])
    }

    @Test func `only a regular file is a body`() throws {
        let file = try TemporaryFile(Data())
        let folder = file.url.deletingLastPathComponent()
        let pipe = folder.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
        for url in [pipe, link, folder, url("file:///dev/null")] {
            let error = #expect(throws: HTTPBodyError.self) { try HTTPBody(file: url) }
            #expect(error?.code == .unreadable)
        }
    }

    @Test func `a body with more bytes than allowed is not kept`() async throws {
        for body in [HTTPBody(Data("four".utf8)), HTTPBody { Data("four".utf8).pieces }] {
            #expect(try await body.collect(upTo: 4).count == 4)
            let error = await #expect(throws: HTTPBodyError.self) { try await body.collect(upTo: 3) }
            #expect(error?.code == .tooLong)
        }
    }

    @Test func `a reader that is cancelled is told so and not that the body ended`() async throws {
        let body = HTTPBody { AsyncStream<Data> { _ in } }
        let task = Task { try await read(body) }
        await expectCancellation(of: task)
    }

    /// G21.
    @Test func `only a one-shot stream cannot be sent again`() async throws {
        let content = Data("again".utf8)
        let file = try TemporaryFile(content)
        var form = MultipartForm()
        form.append("field", "again")
        let replayable: [RequestBody] = [
            .data(content), .json("again"), .form(["field": "again"]), .multipart(form), .file(file.url),
            .sequence { content.pieces },
        ]
        for body in replayable {
            let encoded = try body.encoded(by: .standard)
            #expect(body.isReplayable && encoded.isReplayable)
            for _ in 0..<2 { #expect(try await encoded.collect(upTo: 1_000).range(of: content) != nil) }
        }
        #expect(RequestBody.none.isReplayable && !RequestBody.oneShot(content.pieces).isReplayable)
    }

    @Test func `a form is encoded as OAuth 2 needs it`() throws {
        let body = RequestBody.form(["grant_type": "refresh_token", "scope": nil as String?, "x": "a b&c+é"])
        #expect(body.contentType == "application/x-www-form-urlencoded")
        let data = try #require(try body.encoded(by: .standard).data)
        #expect(String(decoding: data, as: UTF8.self) == "grant_type=refresh_token&x=a%20b%26c%2B%C3%A9")
    }

    @Test func `a value that cannot be encoded fails when it is sent and is not quoted`() {
        let endpoint = Endpoint<Article>.post("x", json: ["secret-canary": Double.infinity])
        let error = #expect(throws: NetworkError.self) { try endpoint.body.encoded(by: .standard) }
        #expect(error?.code == .encodingFailed && !"\(error as Any)".contains("canary"))
    }
}
