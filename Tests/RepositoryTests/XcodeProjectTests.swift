import Foundation
import Testing

/// The Xcode project embeds the application, and says the same as the package. No test here builds it.
@Suite struct XcodeProjectTests {
    private static let folder = SourceFile.root.appendingPathComponent("App/Xcode")

    @Test func `every object that the project refers to is in it`() throws {
        let project = try Self.propertyList("Reader.xcodeproj/project.pbxproj")
        let objects = try #require(project["objects"] as? [String: [String: Any]])
        let references = Self.identifiers(in: project["rootObject"] as Any) + objects.values.flatMap(Self.identifiers)
        #expect(references.count > objects.count / 2)
        for reference in references { #expect(objects[reference] != nil, "\(reference) is no object") }
    }

    @Test func `the project builds the application of the package from one source`() async throws {
        let project = try Self.propertyList("Reader.xcodeproj/project.pbxproj")
        let objects = try #require(project["objects"] as? [String: [String: Any]])
        func values(_ kind: String, _ key: String) -> [String] {
            objects.values.filter { $0["isa"] as? String == kind }.compactMap { $0[key] as? String }
        }
        #expect(values("XCLocalSwiftPackageReference", "relativePath") == [".."])
        let products = values("XCSwiftPackageProductDependency", "productName")
        #expect(products == ["ArticlesApp"])
        let manifest = try await Manifest.app.value
        #expect(manifest.products.contains { $0.name == products[0] })
        let files = values("PBXFileReference", "path").filter { !$0.hasSuffix(".app") }.sorted()
        #expect(files == ["Info.plist", "Reader.entitlements", "ReaderMain.swift"])
        for file in files {
            let path = Self.folder.appendingPathComponent("Reader/\(file)").path
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `the Info.plist permits the background task, and names the Keychain group of the entitlements`() throws {
        let information = try Self.propertyList("Reader/Info.plist")
        let entitlements = try Self.propertyList("Reader/Reader.entitlements")
        let path = "App/Sources/ArticlesUI/Services/BackgroundRefresh.swift"
        let source = try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
        let permitted = try #require(information["BGTaskSchedulerPermittedIdentifiers"] as? [String])
        #expect(permitted.count == 1)
        #expect(source.contains("identifier = \"\(permitted[0])\""))
        let group = try #require(information["LatchkeyAccessGroup"] as? String)
        #expect(entitlements["keychain-access-groups"] as? [String] == [group])
    }

    private static func propertyList(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: folder.appendingPathComponent(path))
        return try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    /// The texts in a value that look like the identifier of an object: 24 hexadecimal digits.
    private static func identifiers(in value: Any) -> [String] {
        switch value {
        case let text as String: text.count == 24 && text.allSatisfy(\.isHexDigit) ? [text] : []
        case let list as [Any]: list.flatMap(identifiers)
        case let dictionary as [String: Any]: dictionary.values.flatMap(identifiers)
        default: []
        }
    }
}
