import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

/// G25: streams, calls and refreshes do not wait for each other's connections. Over URLSession, against a real server.
@Suite(.timeLimit(.minutes(10))) struct ConnectionPurposeTests {
    let servers = LoopbackServers()

    /// Responds to streams with a head and nothing after it, holds calls, and serves what is left.
    func server() throws -> LoopbackServer {
        try servers.start { request in
            switch request.target {
            case let target where target.hasPrefix("/stream"):
                .rawThenHold(Data("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".utf8))
            case let target where target.hasPrefix("/held"): .hold
            default: .json(#"{"access_token":"new"}"#)
            }
        }
    }

    static func client(_ server: LoopbackServer) -> NetworkClient {
        var limits = URLSessionTransport.Limits()
        (limits.connectionsPerHost, limits.streamsPerHost) = (2, 2)
        return NetworkClient(baseURL: server.url, transport: URLSessionTransport(limits: limits))
    }

    /// A `POST` that does not make room by a timeout of its own.
    static func post(_ path: String, to server: LoopbackServer) -> HTTPTransportRequest {
        HTTPTransportRequest(
            head: HTTPRequestHead(method: .post, url: server.url.appendingPathComponent(path)),
            body: HTTPBody(Data("x".utf8)), idleTimeout: .seconds(6_000))
    }

    @Test func `a stream beyond the limit fails at its deadline, and has waited for a connection`() async throws {
        let server = try server()
        let client = Self.client(server)
        // They do not make room by a timeout of their own.
        let open = [
            try await client.stream(Endpoint<Data>.get("stream/a").timeout(.seconds(600))),
            try await client.stream(Endpoint<Data>.get("stream/b").timeout(.seconds(600))),
        ]
        let error = try await #require(throws: NetworkError.self) {
            _ = try await client.stream(Endpoint<Data>.get("stream/c").deadline(.seconds(5)))
        }
        #expect(error.code == .timedOut && error.waitedFor == .connection)
        withExtendedLifetime(open) {}
    }

    @Test func `POSTs that stall at one host do not delay a POST to another`() async throws {
        let (stalling, other) = (try server(), try server())
        // One transport for both hosts.
        let transport = URLSessionTransport()
        let ended = Locked(0)
        let stalled = (0..<40).map { _ in
            Task {
                _ = try? await transport.perform(Self.post("held", to: stalling))
                ended.withLock { $0 += 1 }
            }
        }
        // All the cold connections that one origin may have, and eight that wait for one.
        try await until { stalling.requests.count == URLSessionTransport.coldConnectionLimit }
        for _ in 0..<3 { #expect(try await transport.perform(Self.post("article", to: other)).head.status == 200) }
        #expect(ended.withLock { $0 } == 0)
        #expect(stalling.requests.count == URLSessionTransport.coldConnectionLimit)
        for call in stalled { call.cancel() }
        for call in stalled { await call.value }
    }

    @Test func `a refresh goes through while calls and streams have all their connections`() async throws {
        let server = try server()
        let client = Self.client(server)
        let streams = [
            try await client.stream(Endpoint<Data>.get("stream/a")),
            try await client.stream(Endpoint<Data>.post("stream/b", json: ["topic": "x"])),
            try await client.stream(Endpoint<Data>.get("stream/c")),
        ]
        let calls = (0..<40).map { number in
            Task {
                let call = number < 4 ? Endpoint<Data>.get("held") : .post("held", json: ["title": "x"])
                // They do not make room by a timeout of their own.
                return try? await client.send(call.timeout(.seconds(600)).deadline(.seconds(600)))
            }
        }
        defer { for call in calls { call.cancel() } }
        // 2 warm connections, 32 cold ones.
        try await until { server.requests.count { $0.target == "/held" } >= 34 }
        let refreshes = [
            Endpoint<Data>.post("token", json: ["refresh_token": "old-refresh-token"]), Endpoint<Data>.get("token"),
        ]
        for refresh in refreshes { _ = try await client.send(refresh.allowingLateResponse().deadline(.seconds(300))) }
        withExtendedLifetime(streams) {}
    }
}
