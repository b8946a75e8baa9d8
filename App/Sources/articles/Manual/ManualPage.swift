import Composition

/// A manual page for man(1), in the macros of man(7).
struct ManualPage {
    /// An option of at least so many commands is listed once for all of them.
    private static let commonCount = 5

    private let root: CommandHelp
    private let version: String
    private let common: [CommandHelp.Argument]

    init(_ root: CommandHelp, version: String) {
        self.root = root
        self.version = version
        var counts: [CommandHelp.Argument: Int] = [:]
        var order: [CommandHelp.Argument] = []
        for argument in root.leaves.flatMap(\.displayed) where !argument.isPositional {
            if counts[argument] == nil { order.append(argument) }
            counts[argument, default: 0] += 1
        }
        common = order.filter { counts[$0, default: 0] >= Self.commonCount }
    }

    /// The page.
    var text: String {
        let name = root.commandName
        var lines = [
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"",
            ".SH NAME", "\(name) \\- \(Self.escaped(root.abstract ?? ""))",
            ".SH SYNOPSIS", ".B \(name)", ".I command", "[options]",
            ".SH DESCRIPTION",
        ]
        for (index, paragraph) in paragraphs(of: root).enumerated() {
            if index > 0 { lines.append(".PP") }
            lines.append(Self.escaped(paragraph))
        }
        lines.append(".SH COMMANDS")
        lines += root.leaves.flatMap(section)
        lines.append(".SH COMMON OPTIONS")
        lines += ["Most commands have these options.", ".PP"] + common.flatMap(entry)
        lines += environment + files + exitStatus
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ command: CommandHelp) -> [String] {
        let own = command.displayed.filter { !common.contains($0) }
        let usage = own.map(Self.usage).joined(separator: " ")
        var lines = [".SS \(Self.escaped(command.fullName)) \(usage)", Self.escaped(command.abstract ?? "")]
        for paragraph in (command.discussion ?? "").split(separator: "\n\n") {
            lines += [".PP"] + Self.lines(of: String(paragraph))
        }
        return lines + own.flatMap(entry)
    }

    /// A paragraph. Examples, whose lines are indented, keep their lines.
    private static func lines(of paragraph: String) -> [String] {
        let lines = paragraph.split(separator: "\n").map(String.init)
        guard lines.count > 1, lines.dropFirst().allSatisfy({ $0.hasPrefix("  ") }) else {
            return [escaped(paragraph)]
        }
        return [escaped(lines[0]), ".nf"] + lines.dropFirst().map(escaped) + [".fi"]
    }

    private func entry(_ argument: CommandHelp.Argument) -> [String] {
        let names = (argument.names ?? []).map { "\\fB\(Self.escaped($0.text))\\fR" }.joined(separator: ", ")
        return [".TP", "\(names)\(Self.value(of: argument, after: names))", Self.escaped(argument.abstract ?? "")]
    }

    private static func usage(_ argument: CommandHelp.Argument) -> String {
        let name = argument.names?.last.map { escaped($0.text) } ?? ""
        let text = name + value(of: argument, after: name)
        return (argument.isOptional ? "[\(text)]" : text) + (argument.isRepeating ? "..." : "")
    }

    private static func value(of argument: CommandHelp.Argument, after name: String) -> String {
        guard argument.kind != "flag", let value = argument.valueName else { return "" }
        return "\(name.isEmpty ? "" : " ")\\fI\(escaped(value))\\fR"
    }

    /// The paragraphs about a command, without the exit statuses.
    private func paragraphs(of command: CommandHelp) -> [String] {
        (command.discussion ?? "").split(separator: "\n\n").map(String.init).filter { !$0.hasPrefix(Self.statusTitle) }
    }

    private static let statusTitle = "Exit status: "

    private var exitStatus: [String] {
        let statuses = (root.discussion ?? "").split(separator: "\n\n").first { $0.hasPrefix(Self.statusTitle) } ?? ""
        let items = statuses.dropFirst(Self.statusTitle.count).split(separator: ";")
        return [".SH EXIT STATUS"]
            + items.flatMap { item -> [String] in
                let words = item.split(separator: " ", maxSplits: 1)
                guard words.count == 2 else { return [] }
                return [".TP", ".B \(words[0])", Self.escaped(String(words[1]))]
            }
    }

    private var environment: [String] {
        let settings = Setting.allCases.map { setting in
            (setting.variable, setting.flag.map { "The value of \($0)." } ?? "The OAuth 2.0 client secret.")
        }
        let variables =
            settings + [
                ("LATCHKEY_CONFIG", "The path of the configuration file."),
                (EnvironmentToken.variable, "An access token in place of the stored session."),
                (EnvironmentToken.fileVariable, "A file with one, as 'articles session follow' keeps it."),
                ("NO_COLOR", "When set, nothing is colored."),
            ]
        return [".SH ENVIRONMENT"]
            + variables.flatMap { [".TP", ".B \(Self.escaped($0.0))", Self.escaped($0.1)] }
    }

    private var files: [String] {
        [
            ".SH FILES", ".TP", ".I $XDG_CONFIG_HOME/articles/config.json",
            "The configuration: an object of settings, each with the name of its flag, and of profiles.",
            ".TP", ".I $XDG_STATE_HOME/articles/tokens", "The sessions, for the owner only.",
            ".TP", ".I $XDG_CACHE_HOME/articles", "What 'articles web' has shown of a session, until it ends.",
        ]
    }

    /// Text as roff: no character of it is a request or an escape, and all are ASCII.
    static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let scalars = line.unicodeScalars.map { scalar in
                switch scalar {
                case "\\": "\\e"
                case "-": "\\-"
                default: scalar.isASCII ? String(scalar) : "\\[u\(hexadecimal(scalar.value))]"
                }
            }
            return (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + scalars.joined()
        }.joined(separator: "\n")
    }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
