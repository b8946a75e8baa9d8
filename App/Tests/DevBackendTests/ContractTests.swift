import Foundation
import HTTPTypes
import ProgramTesting
import Testing

@testable import DevBackend

/// `GET /openapi.json`, compared with the routes. What they respond is checked in ``ConformanceTests``.
@Suite(.hangLimit) struct ContractTests {
    @Test(.server) func `the server sends the document without a sign-in`() async throws {
        let response = try await client.get("/openapi.json")
        #expect(response.status == 200)
        #expect(response.header("Content-Type") == "application/json")
        #expect(response.member("openapi") == "3.1.0")
        #expect(response.data == Data(PackageResources.openapi_json))
    }

    @Test func `the document names each route but those of dev, and no other`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.allowsDevEndpoints = true
        let routes = try await BackendServices(configuration).pipeline.routes.routes
        let names = routes.filter { !$0.path.hasPrefix("/dev/") }.map { "\($0.method.rawValue) \($0.fullPath)" }
        let document = try JSONSerialization.jsonObject(with: Data(PackageResources.openapi_json)) as? [String: Any]
        let paths = try #require(document?["paths"] as? [String: [String: Any]])
        let methods = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]
        let documented = paths.flatMap { path, item in
            methods.filter { item[$0] != nil }.map { "\($0.uppercased()) \(path)" }
        }
        #expect(Set(documented) == Set(names))
    }
}

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
