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
        #expect(request.method == "POST" && request["Content-Type"] == nil)
        #expect(request.values(of: "Content-Length") == ["0"])
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
