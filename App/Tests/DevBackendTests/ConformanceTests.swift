import DevBackend
import Foundation
import ProgramTesting
import Testing

/// The running server against its document, by Schemathesis, which is not ours.
@Suite(.hangLimit) struct ConformanceTests {
    private static let program = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Contract/check")

    private static func run(
        _ arguments: [String], adding variables: [String: String] = [:]
    ) async throws -> SpawnedProgram.Result {
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        return try await SpawnedProgram(program, arguments, environment: environment).result
    }

    /// Whether Schemathesis is there, or can be had from PyPI.
    @Sendable private static func isInstalled() async throws -> Bool { try await run(["--install"]).status == 0 }

    @Test(
        .server,
        .enabled("Schemathesis cannot be installed from PyPI: see App/Tests/Contract/check --install", isInstalled))
    func `the server responds as its document says, to valid and to invalid requests`() async throws {
        let token = try await client.signIn().accessToken
        let result = try await Self.run([backend.origin.absoluteString], adding: ["ACCESS_TOKEN": token])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        // Not because nothing was sent.
        #expect(backend.journal.count > 200)
    }
}
