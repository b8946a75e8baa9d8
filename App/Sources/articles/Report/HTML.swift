import ArticlesWeb

/// A piece of a page. Text that is put into it is escaped; only literals and other pieces are not.
///
/// ```swift
/// let cell: HTML = "<td>\(title)</td>"  // the title is text, with any characters
/// ```
struct HTML: ExpressibleByStringInterpolation, CustomStringConvertible {
    let description: String

    init(stringLiteral value: String) {
        description = value
    }

    init(stringInterpolation: StringInterpolation) {
        description = stringInterpolation.text
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity * 2)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.description }

        mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { text += piece.description }
        }

        mutating func appendInterpolation(_ piece: HTML?) { text += piece?.description ?? "" }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }
    }
}
