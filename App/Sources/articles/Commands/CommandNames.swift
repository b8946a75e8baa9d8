import ArgumentParser

extension ArticlesCommand {
    /// Rejects a command that does not exist. ArgumentParser shows the help of another one for `help nope`, and suggests
    /// names of options only.
    ///
    /// - Throws: ``Failure``, with the command that has a similar name.
    static func checkCommand(in arguments: [String]) throws {
        var words = arguments[...]
        if words.first == "help" { words.removeFirst() }
        var command: any ParsableCommand.Type = Self.self
        var path = "articles"
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            if known.isEmpty { return }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let similar = word.similar(among: known.compactMap { $0.configuration.commandName })
                let suggestion = similar.map { ". Did you mean '\($0)'? See" } ?? "; see"
                throw Failure("unknown command '\(word.onOneLine)'\(suggestion) '\(path) --help'", .usage)
            }
            command = next
            path += " \(word)"
        }
    }
}

extension String {
    /// The name that differs in two characters or fewer. `nil`: none does.
    func similar(among names: [String]) -> String? {
        let nearest = names.map { (name: $0, distance: distance(to: $0)) }.min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance <= 2 ? $0.name : nil }
    }

    /// How many characters must be inserted, removed or replaced (Levenshtein).
    private func distance(to other: String) -> Int {
        var row = Array(0...other.count)
        for (line, character) in enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, another) in other.enumerated() {
                let above = row[column + 1]
                row[column + 1] = character == another ? diagonal : Swift.min(diagonal, row[column], above) + 1
                diagonal = above
            }
        }
        return row[other.count]
    }
}
