import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Clients that start an upload and do not finish it.
@Suite(.hangLimit) struct StalledUploadTests {
    private static let uploads = 100

    /// The head of an upload that declares more bytes than are sent.
    private func head(_ path: String = "/auth/guest/register", length: Int = 60_000) -> String {
        "POST /api/v1\(path) HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: multipart/form-data; boundary=\(MultipartBody.boundary)\r\n"
            + "Content-Length: \(length)\r\n\r\n"
    }

    /// Timeouts of an hour, so that only the one that a test sets is reached.
    private var withoutTimeouts: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.limits.bodyIdleTimeout = .seconds(3600)
        configuration.limits.bodyTotalTimeout = .seconds(3600)
        return configuration
    }

    /// Starts uploads that stop before their end, and collects the output of the server until it closes the
    /// connections.
    private func stalledUploads(to backend: DevBackend, bytes: Int) async throws -> [String] {
        let text = head() + String(repeating: "x", count: bytes)
        return try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<Self.uploads {
                group.addTask {
                    let connection = try await RawConnection.open(to: backend)
                    try await connection.send(text)
                    return await connection.receiveText()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `a hundred stalled uploads time out, and their connections are closed`() async throws {
        var configuration = withoutTimeouts
        configuration.limits.bodyIdleTimeout = .milliseconds(100)
        try await DevBackend.withServer(configuration) { backend in
            let responses = try await stalledUploads(to: backend, bytes: 40_000)
            #expect(responses.allSatisfy { $0.hasPrefix("HTTP/1.1 408 ") })
            #expect(responses.allSatisfy { $0.contains("\r\nConnection: close\r\n") && $0.contains("BODY_TIMEOUT") })
            #expect(backend.statistics.count("POST", "/auth/guest/register", status: 408) == Self.uploads)
            #expect(backend.statistics.inProgress == 0)
        }
    }

    @Test func `the bodies of all requests together take no more memory than the limit`() async throws {
        var configuration = withoutTimeouts
        configuration.limits.bufferedBodyBytes = 1024 * 1024
        try await DevBackend.withServer(configuration) { backend in
            let text = head("/auth/logout") + String(repeating: "x", count: 40_000)
            var connections: [RawConnection] = []
            for _ in 0..<Self.uploads { connections.append(try await RawConnection.open(to: backend)) }
            let refusals = try await withThrowingTaskGroup(of: String.self) { group in
                for connection in connections {
                    group.addTask {
                        try await connection.send(text)
                        return await connection.receive(until: "BODY_MEMORY_EXHAUSTED")
                    }
                }
                // A body of 40,000 bytes takes 64 KiB, so 16 fit and the others are refused.
                var refusals: [String] = []
                while refusals.count < Self.uploads - 16, let response = try await group.next() {
                    refusals.append(response)
                }
                for connection in connections { try await connection.close() }
                return refusals
            }
            #expect(refusals.count == Self.uploads - 16)
            #expect(refusals.allSatisfy { $0.hasPrefix("HTTP/1.1 503 ") && $0.contains("\r\nRetry-After: 1\r\n") })
            #expect((65_536...1024 * 1024).contains(backend.statistics.maxBufferedBodyBytes))

            var status = 503
            while status == 503 { status = try await TestClient(backend).register().status }
            #expect(status == 201, "the memory is free again after the connections are closed")
        }
    }

    @Test func `a slow body times out at the total deadline`() async throws {
        var configuration = withoutTimeouts
        configuration.limits.bodyTotalTimeout = .milliseconds(200)
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(head(length: 5_000_000))
            let second = try await RawConnection.open(to: backend)
            // One byte for each exchange on a second connection, so that the server waits for every byte.
            let upload = Task {
                while !Task.isCancelled {
                    try await connection.send("x")
                    try await second.send("GET /api/v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    _ = await second.receive(until: "NOT_FOUND")
                }
            }
            let response = await connection.receive(until: "BODY_TIMEOUT")
            #expect(response.hasPrefix("HTTP/1.1 408 "))
            upload.cancel()
            _ = await upload.result
            _ = await connection.receiveText()
        }
    }

    @Test func `a body that no handler reads times out too`() async throws {
        var configuration = withoutTimeouts
        configuration.limits.bodyIdleTimeout = .milliseconds(100)
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(head("/nowhere") + "half")
            let response = await connection.receiveText()
            #expect(response.hasPrefix("HTTP/1.1 404 "))
            #expect(!response.contains("BODY_TIMEOUT"), "the response was sent before")
        }
    }

    @Test(arguments: ["", "GET /api/v1/articles HTTP/1.1\r\nHost: loc"])
    func `a connection without a whole request is closed in time`(_ text: String) async throws {
        var configuration = withoutTimeouts
        configuration.limits.connectionIdleTimeout = .milliseconds(100)
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            // On a machine under load it may be closed already.
            try? await connection.send(text)
            #expect(await connection.receiveText().isEmpty)
            #expect(backend.statistics.requests == 0)
        }
    }

    @Test func `a held request with a complete body does not time out`() async throws {
        var configuration = withoutTimeouts
        configuration.limits.bodyIdleTimeout = .milliseconds(1)
        configuration.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delay(.milliseconds(200)))])
        try await DevBackend.withServer(configuration) { backend in
            let body = #"{"refreshToken": "x"}"#
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(
                "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let response = await connection.receive(until: "REFRESH_TOKEN_INVALID")
            #expect(response.hasPrefix("HTTP/1.1 401 "))
            try await connection.close()
        }
    }
}
