import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command whose help ends with examples.
    init(commandName: String, abstract: String, discussion: String = "", examples: [String]) {
        let examples = (["Examples:"] + examples.map { "  \($0)" }).joined(separator: "\n")
        self.init(
            commandName: commandName, abstract: abstract,
            discussion: [discussion, examples].filter { !$0.isEmpty }.joined(separator: "\n\n"))
    }
}
