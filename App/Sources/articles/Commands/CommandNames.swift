import ArgumentParser

extension ArticlesCommand {
    /// Rejects a command that does not exist. ArgumentParser shows the help of another one for `help nope`, and
    /// suggests names of options only.
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
    /// The name from which at most two characters must be removed, or to which they must be added. `nil`: there is
    /// none.
    func similar(among names: [String]) -> String? {
        let distances = names.map { $0.difference(from: self).count }
        return zip(names, distances).min { $0.1 < $1.1 }.flatMap { $0.1 <= 2 ? $0.0 : nil }
    }
}
