import Foundation

/// The Swift samples in the articles of a module, looked up in the file that compiles them.
package struct DocumentedSamples {
    /// How many there are.
    package let count: Int
    /// The article and the first line of each sample that the file does not contain.
    package let missing: [String]

    /// Reads the articles and the file.
    ///
    /// - Parameters:
    ///   - module: The module, which has a catalog of its name.
    ///   - path: The file, two folders below the root's `Tests` at most.
    /// - Throws: The error of a file that cannot be read.
    package init(of module: String, compiledIn path: String) throws {
        let tests = path.range(of: "/Tests/", options: .backwards)?.lowerBound ?? path.endIndex
        let catalog = URL(fileURLWithPath: "\(path[..<tests])/Modules/\(module)/\(module).docc")
        let compiled = Self.lines(of: try String(contentsOfFile: path, encoding: .utf8))
        var count = 0
        var missing: [String] = []
        for article in try FileManager.default.contentsOfDirectory(at: catalog, includingPropertiesForKeys: nil) {
            let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
            for part in parts.dropFirst() {
                let sample = Self.lines(of: part.components(separatedBy: "\n```")[0])
                count += 1
                let isCompiled = compiled.indices.contains { compiled[$0...].starts(with: sample) }
                if !isCompiled { missing.append("\(article.lastPathComponent): \(sample.first ?? "")") }
            }
        }
        (self.count, self.missing) = (count, missing)
    }

    private static func lines(of text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }
}
