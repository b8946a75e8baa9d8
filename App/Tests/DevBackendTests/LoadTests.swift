import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit, .serialized) struct LoadTests {
    private func request(_ token: String) -> String {
        "GET /api/v1/articles?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
    }

    @Test(arguments: [false, true])
    func `a thousand concurrent connections are served twice`(isStored: Bool) async throws {
        try await withTemporaryFolder { folder in
            var configuration = DevBackend.Configuration()
            if isStored { configuration.database = .file(folder.appendingPathComponent("backend.sqlite").path) }
            try await DevBackend.withServer(configuration) { backend in
                let request = request(try await TestClient(backend).signIn().accessToken)
                let gate = backend.hold("GET", "/articles")
                let succeeded = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<1000 { group.addTask { try await Self.sendTwice(request, to: backend) } }
                    await gate.arrivals(1000)
                    gate.open()
                    return try await group.reduce(0, +)
                }
                #expect(succeeded == 2000)
                #expect(backend.statistics.count("GET", "/articles", status: 200) == 2000)
                #expect(backend.statistics.maxConcurrent >= 1000)
            }
        }
    }

    /// Sends a request twice over one connection.
    ///
    /// - Returns: How many succeeded.
    private static func sendTwice(_ request: String, to backend: DevBackend) async throws -> Int {
        let connection = try await RawConnection.open(to: backend)
        var succeeded = 0
        for _ in 0..<2 {
            try await connection.send(request)
            let response = await connection.receive(until: #""success":true}"#)
            if response.hasPrefix("HTTP/1.1 200 OK") { succeeded += 1 }
        }
        try await connection.close()
        return succeeded
    }
}
