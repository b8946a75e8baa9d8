import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkURLSession
import Testing

/// Cold connections: see the documentation of `URLSessionTransport`.
@Suite("URLSessionTransport and connections that the server closes", .timeLimit(.minutes(10)))
struct ColdConnectionTests {
    let transport = URLSessionTransport()

    func send(_ method: String, _ url: URL, body: String? = nil) async throws -> Int {
        let head = HTTPRequestHead(method: HTTPMethod(rawValue: method), url: url)
        let request = HTTPTransportRequest(
            head: head,
            body: body.map { HTTPBody(Data($0.utf8)) } ?? .none,
            idleTimeout: .seconds(30)
        )
        let response = try await transport.perform(request)
        for try await _ in response.body {}
        return response.head.status
    }

    @Test(arguments: ["POST", "PATCH", "PUT"])
    func `a body is not sent twice when the server closes without a response`(method: String) async throws {
        let server = try LoopbackServer { $0.target == "/close" ? .close : .respond(200) }
        defer { server.stop() }
        // A connection is left open, which the next request must not use.
        #expect(try await send("GET", server.url.appendingPathComponent("ok")) == 200)
        #expect(try await send(method, server.url.appendingPathComponent("ok"), body: "x") == 200)
        // On that connection, the error would be `timedOut`, 30 seconds later.
        await #expect {
            _ = try await send(method, server.url.appendingPathComponent("close"), body: "x")
        } throws: { error in
            (error as? HTTPTransportError)?.code == .connectionFailed
        }
        #expect(server.requests.filter { $0.target == "/close" }.count == 1)
    }

    @Test func `a POST without a body is not sent twice`() async throws {
        let server = try LoopbackServer { $0.target == "/close" ? .close : .respond(200) }
        defer { server.stop() }
        #expect(try await send("GET", server.url.appendingPathComponent("ok")) == 200)
        await #expect(throws: HTTPTransportError.self) {
            _ = try await send("POST", server.url.appendingPathComponent("close"))
        }
        #expect(server.requests.filter { $0.target == "/close" }.count == 1)
    }

    @Test func `GET requests share connections`() async throws {
        let server = try LoopbackServer { _ in .respond(200) }
        defer { server.stop() }
        for _ in 0..<20 { _ = try await send("GET", server.url) }
        #expect(server.requests.count == 20)
        #expect(server.connectionCount < 3)
    }

    @Test(arguments: ["GET", "POST"])
    func `a thousand requests at once all get their response`(method: String) async throws {
        let server = try LoopbackServer { request in .respond(200, body: Data(request.target.utf8)) }
        defer { server.stop() }
        let responded = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let head = HTTPRequestHead(
                        method: HTTPMethod(rawValue: method), url: server.url.appendingPathComponent("\(number)"))
                    let body: HTTPBody = method == "POST" ? HTTPBody(Data("x".utf8)) : .none
                    let request = HTTPTransportRequest(head: head, body: body)
                    var content = Data()
                    guard let response = try? await transport.perform(request) else { return false }
                    do { for try await piece in response.body { content += piece } } catch { return false }
                    return content == Data("/\(number)".utf8)
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(responded == 1_000)
        #expect(server.requests.count == 1_000)
    }
}
