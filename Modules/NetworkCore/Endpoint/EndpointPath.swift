public import AuthInterface
public import Foundation

/// The path of an endpoint below the base URL, or a URL of its own.
///
/// A literal is a path that is not yet percent-encoded. Each interpolated value is one segment, with any content:
///
/// ```swift
/// .get("articles/\(id)")      // id "a/b?c" is sent as articles/a%2Fb%3Fc
/// ```
///
/// A value that is a secret is written `\(secret: code)`, so that nothing shows it.
///
/// No encoding makes some values safe: an interpolated segment that is empty would turn `articles/7` into `articles/`,
/// and URL parsers remove `.` and `..`, encoded or not. Such a path is never sent: it fails with code `invalidRequest`.
public struct EndpointPath: Sendable, Hashable {
    enum Target: Sendable, Hashable {
        case relative(String)
        case absolute(URL)
    }

    let target: Target

    /// Why the path cannot be sent. `nil`: it can.
    let problem: String?

    /// The values that no description shows.
    package private(set) var secrets: [String] = []

    /// What may be shown of the path.
    var redaction: Redaction { Redaction(secrets: secrets) }

    /// A path that is percent-encoded already, as from a server. It is sent as it is.
    ///
    /// A path that is not valid (RFC 3986 §3.3), or has a segment `.` or `..`, encoded or not, is never sent. It has no
    /// query, and may have a leading slash.
    public static func encoded(_ path: String) -> EndpointPath {
        let path = path.withoutLeadingSlash
        var problem: String?
        let rest = path.withoutEscapes
        if rest == nil || rest?.percentEncodedPath != rest {
            problem = "the path is not percent-encoded"
        } else if path.split(separator: "/").contains(where: { [".", ".."].contains($0.removingPercentEncoding) }) {
            problem = "a path segment is \".\" or \"..\", which would change the path"
        }
        return EndpointPath(target: .relative(path), problem: problem)
    }

    /// An `https` or `http` URL in place of a path below the base URL: a token endpoint, or a link from a server.
    ///
    /// Tokens are sent only if its origin is allowed to receive them (G15).
    public static func url(_ url: URL) -> EndpointPath { EndpointPath(target: .absolute(url), problem: nil) }

    /// The same for a link that may quote the secrets of the path before it.
    package static func url(_ url: URL, hiding secrets: [String]) -> EndpointPath {
        EndpointPath(target: .absolute(url), problem: nil, secrets: secrets)
    }
}

extension EndpointPath: RedactedDescription {
    /// The path, percent-encoded, or the URL without secrets (G17).
    public var description: String {
        switch target {
        case .relative(let path): redaction.path(path)
        case .absolute(let url): redaction.url(url)
        }
    }
}

extension EndpointPath: ExpressibleByStringInterpolation {
    /// Creates a path that is known only at run time, read as a literal is: `/` separates segments, and every other
    /// character that is not allowed in a path is percent-encoded.
    public init(_ path: String) { self.init(stringLiteral: path) }

    /// Creates a path from a literal.
    public init(stringLiteral value: String) {
        var pieces = StringInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0)
        pieces.appendLiteral(value)
        self.init(stringInterpolation: pieces)
    }

    /// Creates a path from an interpolated literal.
    public init(stringInterpolation: StringInterpolation) {
        let target = Target.relative(stringInterpolation.path)
        self.init(target: target, problem: stringInterpolation.problem, secrets: stringInterpolation.secrets)
    }

    /// The literal text of a path, and the values that are one segment each.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = ""
        fileprivate var secrets: [String] = []
        private var literalProblem: String?
        private var segmentsWithValues: Set<Int> = []

        /// Reserves capacity for a path.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        /// Appends literal text, in which `/` separates segments. The text must not contain a query or a fragment.
        public mutating func appendLiteral(_ literal: String) {
            if literal.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
                literalProblem = "a path must not contain a query or a fragment; use the query parameter"
            }
            let isStart = path.isEmpty && segmentsWithValues.isEmpty
            path += (isStart ? literal.withoutLeadingSlash : literal).percentEncodedPath
        }

        /// Appends a value as one segment, or as a part of one.
        ///
        /// An optional does not compile here, so `Optional(7)` is never part of a path.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            segmentsWithValues.insert(path.utf8.count { $0 == UInt8(ascii: "/") })
            path += value.description.percentEncodedComponent
        }

        /// Appends a secret as one segment, or as a part of one: `"reset/\(secret: code)"`. It is sent, and no
        /// description, error or log shows it (G17).
        public mutating func appendInterpolation(secret: String) {
            secrets.append(secret)
            appendInterpolation(secret)
        }

        fileprivate var problem: String? {
            if let literalProblem { return literalProblem }
            let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            if segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) {
                return "a path segment is \".\" or \"..\", which would change the path"
            }
            if segmentsWithValues.contains(where: { segments[$0].isEmpty }) {
                return "a value in the path is empty, which would change the path"
            }
            return nil
        }
    }
}

extension String {
    /// The text as UTF-8, percent-encoded except for the unreserved characters of RFC 3986 §2.3.
    ///
    /// It is safe as one path segment, except for `.` and `..`, and as one query name or one query value.
    var percentEncodedComponent: String { percentEncoded { $0.isUnreserved } }

    /// The text, percent-encoded except for the characters that are allowed in a path (RFC 3986 §3.3), such as `/`.
    var percentEncodedPath: String { percentEncoded { $0.isUnreserved || $0.isPathPunctuation } }

    /// The text, percent-encoded except for the characters of a path, a query and a fragment, and for escapes.
    var percentEncodedReference: String {
        percentEncoded { $0.isUnreserved || $0.isPathPunctuation || "?#%".utf8.contains($0) }
    }

    /// The text without a slash at its start. The first character could include an accent.
    fileprivate var withoutLeadingSlash: String {
        utf8.first == UInt8(ascii: "/") ? String(unicodeScalars.dropFirst()) : self
    }

    /// The text without its escapes, `%2F`. `nil`: one is not valid, or is no UTF-8.
    fileprivate var withoutEscapes: String? {
        guard removingPercentEncoding != nil else { return nil }
        return replacing(/%[0-9A-Fa-f]{2}/, with: "")
    }

    private func percentEncoded(except isAllowed: (UInt8) -> Bool) -> String {
        guard !utf8.allSatisfy(isAllowed) else { return self }
        return utf8.map { byte in
            if isAllowed(byte) { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
        .joined()
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool { isLetter || isDigit || "-._~".utf8.contains(self) }

    fileprivate var isPathPunctuation: Bool { "/!$&'()*+,;=:@".utf8.contains(self) }
}
