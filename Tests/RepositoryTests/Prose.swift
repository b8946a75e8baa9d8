import Foundation

/// The words of a file, code and comments alike.
struct Prose {
    let path: String
    /// In lower case; letters and digits only.
    private let words: [String]
    private let lines: [Int]

    init(path: String, text: String) {
        self.path = path
        var words: [String] = []
        var lines: [Int] = []
        var word: [UInt8] = []
        var line = 1
        for byte in Array(text.utf8) + [UInt8(ascii: "\n")] {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): word.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): word.append(byte + 32)
            default:
                if !word.isEmpty {
                    words.append(String(decoding: word, as: UTF8.self))
                    lines.append(line)
                    word.removeAll(keepingCapacity: true)
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
            }
        }
        self.words = words
        self.lines = lines
    }

    /// The lines on which a phrase starts.
    func lines(of phrase: String) -> [Int] {
        let phrase = phrase.split(separator: " ").map(String.init)
        return lines(at: words.indices.filter { words[$0] == phrase[0] && words[$0...].starts(with: phrase) })
    }

    /// The lines with a reference to a document that is not in the repository: `row N7`, `EN4`.
    var linesWithForeignReferences: [Int] {
        lines(
            at: words.indices.filter { index in
                let word = words[index]
                if ["row", "rows"].contains(word), index + 1 < words.count {
                    return Self.isReference(words[index + 1], to: ["t", "n", "m", "f", "d"])
                }
                return Self.isReference(word, to: ["en", "st", "us", "ht"])
            })
    }

    private static func isReference(_ word: String, to series: Set<String>) -> Bool {
        let number = word.drop { $0.isLetter }
        return series.contains(String(word.prefix { $0.isLetter })) && !number.isEmpty && number.count <= 2
            && number.allSatisfy(\.isNumber)
    }

    private func lines(at indices: [Int]) -> [Int] { indices.map { lines[$0] } }

    /// Every Swift file, every article, and the documents of the root; not the files that list what is forbidden.
    static func all() throws -> [Prose] {
        let paths = ["Modules", "App/Sources", "App/Tests", "Tests"].flatMap { folder in
            let base = SourceFile.root.appendingPathComponent(folder)
            let found = ["swift", "md"].flatMap { SourceFile.paths(below: base, withExtension: $0) }
            return found.map { "\(folder)/\($0)" }
        }
        let documents = ["README.md", "CONTRIBUTING.md", "Makefile", "Package.swift", "App/Package.swift"]
        return try (paths + documents).filter { !$0.hasPrefix("Tests/RepositoryTests/Prose") }.map { path in
            let url = SourceFile.root.appendingPathComponent(path)
            return Prose(path: path, text: try String(contentsOf: url, encoding: .utf8))
        }
    }
}
