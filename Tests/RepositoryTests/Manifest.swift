import Foundation
import ProcessTesting

/// What `Package.swift` says, as `swift package dump-package` prints it.
struct Manifest: Decodable, Sendable {
    struct Target: Decodable, Sendable {
        let name: String
        let type: String
        let path: String?
        var dependencies: [Dependency]
    }

    struct Product: Decodable, Sendable {
        let name: String
        let targets: [String]
    }

    struct Trait: Decodable, Sendable {
        let name: String
    }

    var targets: [Target]
    let products: [Product]
    let traits: [Trait]

    /// The manifests of the root and of the app, whole: without the variable that narrows them.
    static func all() async throws -> [(path: String, manifest: Manifest)] {
        try await [("Package.swift", root.value), ("App/Package.swift", app.value)]
    }

    /// The manifest of the root.
    static let root = Task { try await read(in: ".") }
    private static let app = Task { try await read(in: "App") }

    private static func read(in folder: String) async throws -> Manifest {
        var environment = ProcessInfo.processInfo.environment
        environment["LATCHKEY_MODULE"] = nil
        // A build folder of its own, which is never made: SwiftPM would wait for the one that is in use.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let path = SourceFile.root.appendingPathComponent(folder).path
        let package = try SpawnedProcess(
            "/usr/bin/env",
            ["swift", "package", "--package-path", path, "--scratch-path", scratch, "dump-package"],
            environment: environment
        )
        let output = await package.remainingLines().joined(separator: "\n")
        return try JSONDecoder().decode(Manifest.self, from: Data(output.utf8))
    }
}
