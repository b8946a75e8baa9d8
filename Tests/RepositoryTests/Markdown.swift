/// A text of the documentation.
enum Markdown {
    /// The contents of the code blocks of one language.
    static func blocks(of language: String, in text: String) -> [String] {
        var blocks: [String] = []
        var block: (language: Substring, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("```") else {
                block?.lines.append(line)
                continue
            }
            if let block, block.language == language { blocks.append(block.lines.joined(separator: "\n")) }
            block = block == nil ? (line.dropFirst(3), []) : nil
        }
        return blocks
    }

    /// The lines without their indentation, each with one space between two words.
    static func words(of text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "\n")
    }
}
