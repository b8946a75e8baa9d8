import Testing

/// The manifests list the dependencies that the picture of the architecture has.
@Suite struct ManifestTests {
    @Test func `the dependency lists of the manifests are the rows of the table`() async throws {
        for (path, manifest) in try await Manifest.all() {
            #expect(manifest.targets.contains { AllowTable.ours[$0.name] != nil })
            for objection in manifest.objections() { Issue.record("\(path): \(objection)") }
            for target in manifest.targets {
                #expect(Set(target.dependencies).count == target.dependencies.count, "\(path): \(target.name)")
            }
        }
    }

    @Test func `every module is a target and a product of its name`() async throws {
        let manifest = try await Manifest.root.value
        let modules = Set(AllowTable.system.keys)
        #expect(Set(manifest.targets.filter { $0.path == "Modules/\($0.name)" }.map(\.name)) == modules)
        #expect(Set(manifest.products.map(\.name)) == modules)
        for product in manifest.products { #expect(product.targets == [product.name]) }
        let traits = manifest.targets.flatMap(\.dependencies).reduce(into: Set()) { $0.formUnion($1.traits) }
        #expect(traits.isSubset(of: manifest.traits.map(\.name)))
    }

    @Test(arguments: ["NetworkCore", "NetworkCoreTests"])
    func `an arrow from NetworkCore or its tests to Storage in the manifest is found`(target: String) async throws {
        let objections = try await objections(to: target) { $0.append(Manifest.Dependency(name: "Storage")) }
        #expect(
            objections == [
                """
                \(target) depends on Storage in the manifest: the architecture has no such arrow. Take it out. \
                A new arrow is added to AllowTable, Package.swift and the picture in README.md
                """
            ]
        )
    }

    @Test func `an arrow that is missing and a package without a trait are found`() async throws {
        let objections = try await objections(to: "DataAPI") { dependencies in
            dependencies.removeAll { $0.name == "NetworkCore" }
            dependencies += [
                Manifest.Dependency(name: "Alamofire", package: "Alamofire"),
                Manifest.Dependency(name: "OpenCombine", package: "OpenCombine", traits: ["OpenCombine"]),
            ]
        }
        #expect(objections.count == 2)
        #expect(objections.first?.hasPrefix("DataAPI does not depend on NetworkCore") == true)
        #expect(objections.last?.hasPrefix("DataAPI depends on the package Alamofire without a trait") == true)
    }

    /// What is found after a change of one list, and was not found before.
    private func objections(
        to target: String, afterChanging change: (inout [Manifest.Dependency]) -> Void
    ) async throws -> [String] {
        var manifest = try await Manifest.root.value
        let before = Set(manifest.objections())
        let index = try #require(manifest.targets.firstIndex { $0.name == target })
        change(&manifest.targets[index].dependencies)
        return manifest.objections().filter { !before.contains($0) }
    }
}
