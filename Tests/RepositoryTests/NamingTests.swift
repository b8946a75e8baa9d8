import Testing

/// A reader finds a type by the name of its file.
@Suite struct NamingTests {
    private static let folders = ["Modules", "App/Sources", "App/Tests", "Tests"]

    @Test(arguments: folders)
    func `no file has a name that says nothing`(folder: String) throws {
        for file in try SourceFile.all(in: folder) {
            for word in ["Helper", "Manager", "Util", "Common", "Placeholder"] where file.name.contains(word) {
                Issue.record("\(file): \(word) says nothing. Name the file for the role of its type.")
            }
        }
    }

    @Test(arguments: ["Modules", "App/Sources"])
    func `a file is named for its type, or Type+Topic for the type that it extends`(folder: String) throws {
        for file in try SourceFile.all(in: folder) where file.name != "main" && !Self.isExempt(file) {
            let owner = String(file.name.prefix { $0 != "+" })
            let declared = TopLevelDeclaration.all(in: file.source).filter { $0.name == owner }
            if declared.contains(where: { !$0.isExtension || file.name.contains("+") }) { continue }
            Issue.record("\(file): nothing in it is named \(owner). Name the file for its type, or Type+Topic.swift.")
        }
    }

    @Test(arguments: ["Tests", "App/Tests"])
    func `a file of tests is named for its suite`(folder: String) throws {
        for file in try SourceFile.all(in: folder) where file.name.hasSuffix("Tests") {
            let isNamed = TopLevelDeclaration.all(in: file.source).contains { $0.name == file.name }
            if !isNamed { Issue.record("\(file): no suite in it is named \(file.name).") }
        }
    }

    @Test func `a type that other modules use is in the file of its name, or is a small companion`() throws {
        for file in try SourceFile.all(in: "Modules") {
            let owner = file.name.prefix { $0 != "+" }
            for type in TopLevelDeclaration.all(in: file.source)
            where type.isPublic && !type.isExtension && type.name != owner && !type.name.hasPrefix(owner)
                && type.lineCount > Self.companionLimit
            {
                Issue.record("\(file):\(type.line): move \(type.name) into a file of its name.")
            }
        }
    }

    /// The most lines of a type that may be in the file of the type that it serves.
    private static let companionLimit = 60

    /// It re-exports a module of the system, and declares nothing.
    private static func isExempt(_ file: SourceFile) -> Bool {
        AllowTable.confined["FoundationNetworking"]?.contains { file.path == "Modules/" + $0 } ?? false
    }
}
