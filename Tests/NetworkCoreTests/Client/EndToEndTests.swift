import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

/// The whole client over real sockets.
@Suite("NetworkClient over real sockets", .timeLimit(.minutes(10)))
struct EndToEndTests {
    let servers = LoopbackServers()

    func client(_ server: LoopbackServer) -> NetworkClient {
        NetworkClient(baseURL: server.url.appendingPathComponent("api/v1"), transport: URLSessionTransport())
    }

    @Test(arguments: [1_000, 3_000_000])
    func `a form is uploaded with its length and progress`(size: Int) async throws {
        let server = try servers.start { _ in .json(#"{"id":7,"title":"x"}"#, status: 201) }
        let photo = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        var form = MultipartForm()
        form.append("name", "Ada")
        form.append("image", data: photo, filename: "photo.jpg", contentType: "image/jpeg")
        let progress = Recorder<TransferProgress>()
        let call = Endpoint<Article>.post("auth/guest/register", body: .multipart(form))
        _ = try await client(server).send(call) { progress.record($0) }

        let request = try #require(server.requests.first)
        #expect(request.target == "/api/v1/auth/guest/register")
        #expect(request["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request["Content-Length"] == "\(request.body.count)")
        #expect(request.body.range(of: photo) != nil)
        #expect(progress.values.last?.fraction == 1)
        #expect(progress.values.map(\.completed) == progress.values.map(\.completed).sorted())
    }

    @Test func `an empty POST has a length of zero`() async throws {
        let server = try servers.start { _ in .respond(204) }
        try await client(server).send(Endpoint<Void>.post("auth/logout"))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.values(of: "Content-Length") == ["0"])
        #expect(request["Content-Type"] == nil)
    }

    @Test(arguments: ["HEAD", "DELETE", "OPTIONS", "PATCH"])
    func `every method gets its response`(method: String) async throws {
        let server = try servers.start { request in
            request.method == "HEAD"
                ? .respond(200, headers: ["Content-Length": "999999999"]) : .respond(200, body: Data("x".utf8))
        }
        let call = Endpoint<HTTPResponse>.request(HTTPMethod(rawValue: method), "x")
        let response = try await client(server).send(call)
        #expect(response.status == 200)
        #expect(response.body.count == (method == "HEAD" ? 0 : 1))
        #expect(response.headers["Content-Length"] == (method == "HEAD" ? "999999999" : "1"))
        #expect(server.requests.map(\.method) == [method])
    }

    /// S1 with 100 requests: all are refused at once, and all succeed with the replaced token.
    @Test func `a hundred refused requests all succeed with the replaced token`() async throws {
        let server = try servers.start { request in
            request["Authorization"] == "Bearer access-1"
                ? .json(#"{"id":7,"title":"x"}"#) : .respond(401)
        }
        let network = client(server).authenticated(by: ScriptedTokenProvider())
        let count = try await withThrowingTaskGroup(of: Article.self) { group in
            for _ in 0..<100 { group.addTask { try await network.send(.article(7)) } }
            return try await group.reduce(into: 0) { count, _ in count += 1 }
        }
        #expect(count == 100)
    }

    @Test func `cancelled requests free their connections for others`() async throws {
        let server = try servers.start { $0.target.hasSuffix("slow") ? .hold : .respond(204) }
        let client = client(server)
        let slow = (0..<2 * URLSessionTransport.coldConnectionLimit).map { _ in
            Task { try await client.send(Endpoint<Void>.post("slow", json: 1)) }
        }
        for task in slow { task.cancel() }
        try await client.send(Endpoint<Void>.post("quick", json: 1))
        for task in slow { await #expect(throws: CancellationError.self) { try await task.value } }
    }
}
