import Foundation
import TestSupport

/// What `Package.swift` says, as `swift package dump-package` prints it.
struct Manifest: Decodable, Sendable {
    struct Target: Decodable, Sendable {
        var name: String
        let type: String
        let path: String?
        var dependencies: [Dependency]
    }

    struct Product: Decodable, Sendable {
        let name: String
        let targets: [String]
    }

    struct Trait: Decodable, Sendable { let name: String }

    let name: String
    var targets: [Target]
    let products: [Product]
    let traits: [Trait]

    /// The manifests of the root and of the app, whole: without the variable that narrows them.
    static func all() async throws -> [(path: String, manifest: Manifest)] {
        try await [("Package.swift", root.value), ("App/Package.swift", app.value)]
    }

    static let root = Task { try await read(in: ".") }
    static let app = Task { try await read(in: "App") }

    static func read(in folder: String) async throws -> Manifest {
        var environment = ProcessInfo.processInfo.environment
        environment["LATCHKEY_MODULE"] = nil
        // A build folder of its own, which is never made: SwiftPM would wait for the one that is in use.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let path = SourceFile.root.appendingPathComponent(folder).path
        let package = try SpawnedProcess(
            "/usr/bin/env", ["swift", "package", "--package-path", path, "--scratch-path", scratch, "dump-package"],
            environment: environment)
        let output = await package.remainingLines().joined(separator: "\n")
        return try JSONDecoder().decode(Manifest.self, from: Data(output.utf8))
    }
}

extension Manifest {
    /// One entry of a target's list of dependencies.
    struct Dependency: Decodable, Sendable, Hashable {
        let name: String
        /// The package of a product; nil for a target of the same package.
        var package: String?
        /// The traits without which it is left out.
        var traits: Set<String> = []

        init(name: String, package: String? = nil, traits: Set<String> = []) {
            self.name = name
            self.package = package
            self.traits = traits
        }

        private enum Key: String, CodingKey { case byName, target, product }

        private struct Condition: Decodable { let traits: Set<String>? }

        /// `{"target": [name, condition]}`, `{"product": [name, package, aliases, condition]}`.
        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Key.self)
            guard let key = object.allKeys.first else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no known dependency"))
            }
            var list = try object.nestedUnkeyedContainer(forKey: key)
            name = try list.decode(String.self)
            if key == .product {
                package = try list.decodeIfPresent(String.self)
                _ = try list.decodeIfPresent([String: String].self)
            }
            traits = try list.decodeIfPresent(Condition.self)?.traits ?? []
        }
    }
}

extension Manifest {
    /// Where the dependency lists differ from ``AllowTable``, and what to do about it.
    func objections() -> [String] {
        // The root ships libraries, and its manifest names a package under a trait only, for its tests too.
        let isRoot = name == "Latchkey"
        return targets.filter { $0.type != "system" }.flatMap { target in
            arrows(of: target) + (isRoot ? packages(of: target) : [])
        }
    }

    /// The dependencies on targets of ours.
    private func arrows(of target: Target) -> [String] {
        guard let allowed = AllowTable.row(of: target.name) else { return [] }
        let listed = Set(target.dependencies.filter { $0.package == nil || $0.package == "Latchkey" }.map(\.name))
        return listed.subtracting(allowed).sorted().map {
            "\(target.name) depends on \($0) in the manifest: the architecture has no such arrow. Take it out. "
                + AllowTable.whereToAdd
        }
            + (AllowTable.ours[target.name] ?? []).subtracting(listed).sorted().map {
                "\(target.name) does not depend on \($0) in the manifest, and AllowTable lets it import \($0). "
                    + "Take it out of the table, or add the dependency"
            }
    }

    /// The dependencies on packages, which a module has under a trait only.
    private func packages(of target: Target) -> [String] {
        target.dependencies.filter { $0.package != nil && $0.traits.isEmpty }.map {
            "\(target.name) depends on the package \($0.package ?? "") without a trait: what ships uses no package. "
                + "Put the dependency under a trait that is off by default"
        }
    }
}
