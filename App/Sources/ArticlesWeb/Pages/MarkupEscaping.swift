import Mustache

/// Compiled templates. Each escapes with ``MarkupEscaping``.
package struct MarkupTemplates: Sendable {
    private var library = MustacheLibrary()

    /// Compiles templates, by name. An invalid one is a mistake in the program.
    package init(_ sources: [String: String]) {
        MustacheContentTypes.register(MarkupEscaping(), named: MarkupEscaping.name)
        let pragma = "{{% CONTENT_TYPE:\(MarkupEscaping.name)}}"
        for (name, source) in sources {
            do {
                try library.register(pragma + source, named: name)
            } catch {
                preconditionFailure("the template \(name) is invalid: \(error)")
            }
        }
    }

    /// The templates of a file, by name. Each follows a line with its name: `=== layout`.
    package static func sources(in file: [UInt8]) -> [String: String] {
        var sources: [String: [Substring]] = [:]
        var name = ""
        // Without the line break at the end of the file.
        let text = String(decoding: file.dropLast(), as: UTF8.self)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("=== ") {
                name = String(line.dropFirst(4))
            } else {
                sources[name, default: []].append(line)
            }
        }
        return sources.mapValues { $0.joined(separator: "\n") }
    }

    package func render(_ members: Any, _ name: String) -> String { library.render(members, withTemplate: name) ?? "" }
}

extension Unicode.Scalar {
    /// Whether the character acts on the text around it: C0, DEL and C1 (ECMA-48), and the embeddings, overrides and
    /// isolates of UAX #9.
    package var isInvisibleControl: Bool {
        switch self {
        case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
        default: properties.generalCategory == .control
        }
    }
}

/// Escapes text in HTML: the one rule for the pages and for the report of `articles --report`.
struct MarkupEscaping: MustacheContentType {
    static let name = "MARKUP"

    /// The text as content of an element, or of an attribute in quotes.
    ///
    /// Escaped by Unicode scalars, and not by characters as the template engine does: one may consist of several, and
    /// `"\u{600}<"` is one. Control characters, and those that change the direction of the text around them, are
    /// replaced: text of a server must not change what stands beside it.
    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            // HTML reads a CR as a line break.
            case "\n", "\r", "\t": escaped.append(scalar)
            default: escaped.append(scalar.isInvisibleControl ? "\u{FFFD}" : scalar)
            }
        }
        return String(escaped)
    }
}
