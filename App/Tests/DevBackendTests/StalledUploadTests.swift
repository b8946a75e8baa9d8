import DevBackend
import Foundation
import Testing

/// Clients that start an upload and do not finish it.
@Suite(.untilStuck) struct StalledUploadTests {
    private static let uploads = 100

    /// The head of an upload that declares more than will come.
    private func head(_ path: String = "/auth/guest/register", length: Int = 60_000) -> String {
        "POST /api/v1\(path) HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: multipart/form-data; boundary=\(MultipartBody.boundary)\r\n"
            + "Content-Length: \(length)\r\n\r\n"
    }

    /// Limits of an hour: only the one that a test sets is reached.
    private var patient: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.limits.bodyIdleTimeout = .seconds(3600)
        configuration.limits.bodyTotalTimeout = .seconds(3600)
        return configuration
    }

    /// Starts uploads that stop before their end, and collects what the server says until it closes each connection.
    private func stalledUploads(to backend: DevBackend, bytes: Int) async throws -> [String] {
        let text = head() + String(repeating: "x", count: bytes)
        return try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<Self.uploads {
                group.addTask {
                    let connection = try await RawConnection.open(to: backend)
                    try await connection.send(text)
                    return await connection.receiveAll()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func aHundredStalledUploadsAreRefusedAndTheirConnectionsClosed() async throws {
        var configuration = patient
        configuration.limits.bodyIdleTimeout = .milliseconds(100)
        try await DevBackend.withServer(configuration) { backend in
            let answers = try await stalledUploads(to: backend, bytes: 40_000)
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 408 ") })
            #expect(answers.allSatisfy { $0.contains("\r\nConnection: close\r\n") && $0.contains("BODY_TIMEOUT") })
            #expect(backend.statistics.count("POST", "/auth/guest/register", status: 408) == Self.uploads)
            #expect(backend.statistics.inProgress == 0)
        }
    }

    @Test func theBodiesOfAllRequestsTogetherTakeNoMoreThanTheLimit() async throws {
        var configuration = patient
        configuration.limits.bufferedBodyBytes = 1024 * 1024
        try await DevBackend.withServer(configuration) { backend in
            let text = head() + String(repeating: "x", count: 40_000)
            var connections: [RawConnection] = []
            for _ in 0..<Self.uploads { connections.append(try await RawConnection.open(to: backend)) }
            let refusals = try await withThrowingTaskGroup(of: String.self) { group in
                for connection in connections {
                    group.addTask {
                        try await connection.send(text)
                        return await connection.receive(until: "BODY_MEMORY_EXHAUSTED")
                    }
                }
                // A body of 40,000 bytes takes 64 KiB, so that no more than 16 fit, and those that fit wait.
                var refusals: [String] = []
                while refusals.count < Self.uploads - 16, let answer = try await group.next() {
                    refusals.append(answer)
                }
                for connection in connections { try await connection.close() }
                return refusals
            }
            #expect(refusals.count == Self.uploads - 16)
            #expect(refusals.allSatisfy { $0.hasPrefix("HTTP/1.1 503 ") && $0.contains("\r\nRetry-After: 1\r\n") })
            #expect((65_536...1024 * 1024).contains(backend.statistics.maxBufferedBodyBytes))

            var status = 503
            while status == 503 { status = try await TestClient(backend).register().status }
            #expect(status == 201, "the memory is free again once the clients are gone")
        }
    }

    @Test func aBodyThatDripsEndsAtTheTotalLimit() async throws {
        var configuration = patient
        configuration.limits.bodyTotalTimeout = .milliseconds(200)
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(head(length: 5_000_000))
            let pace = try await RawConnection.open(to: backend)
            // One byte for each exchange on another connection, so that the server waits for every byte.
            let dripping = Task {
                while !Task.isCancelled {
                    try await connection.send("x")
                    try await pace.send("GET /api/v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    _ = await pace.receive(until: "NOT_FOUND")
                }
            }
            let answer = await connection.receive(until: "BODY_TIMEOUT")
            #expect(answer.hasPrefix("HTTP/1.1 408 "))
            dripping.cancel()
            _ = await dripping.result
            _ = await connection.receiveAll()
        }
    }

    @Test func aBodyThatNoHandlerReadsEndsToo() async throws {
        var configuration = patient
        configuration.limits.bodyIdleTimeout = .milliseconds(100)
        try await DevBackend.withServer(configuration) { backend in
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(head("/nowhere") + "half")
            let answer = await connection.receiveAll()
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(!answer.contains("BODY_TIMEOUT"), "it had its response")
        }
    }

    @Test func aRequestThatIsHeldWithItsWholeBodyIsNotTimedOut() async throws {
        var configuration = patient
        configuration.limits.bodyIdleTimeout = .milliseconds(1)
        configuration.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delay(.milliseconds(200)))])
        try await DevBackend.withServer(configuration) { backend in
            let body = #"{"refreshToken": "x"}"#
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(
                "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let answer = await connection.receive(until: "REFRESH_TOKEN_INVALID")
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            try await connection.close()
        }
    }
}
