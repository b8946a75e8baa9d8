public import struct Foundation.URL

/// Where an endpoint is, seen from the base URL.
///
/// A literal is a path as people read it, and everything interpolated into it is one segment, whatever it contains:
///
/// ```swift
/// .get("articles/\(id)")      // id "a/b?c" is sent as articles/a%2Fb%3Fc
/// ```
///
/// Some values no encoding makes safe: an interpolated segment that ends up empty would turn `articles/7` into
/// `articles/`, and `.` and `..` are taken out by every URL parser, encoded or not. Such a path is never sent:
/// sending it throws ``NetworkError`` with code `invalidRequest`.
public struct EndpointPath: Sendable, Hashable {
    /// Where the path leads.
    enum Target: Sendable, Hashable {
        case relative(String)
        case absolute(URL)
    }

    let target: Target

    /// Why the path cannot be sent, where it cannot.
    let problem: String?

    /// Takes a path known only at run time, read as a literal would be: `/` separates segments, everything else that
    /// a path cannot hold is percent-encoded.
    ///
    /// - Parameter path: The path, not yet percent-encoded.
    public init(_ path: String) {
        self.init(stringLiteral: path)
    }

    /// An address of its own, instead of one below the base URL: a token endpoint, a link a server gave.
    ///
    /// Tokens go along only if its origin is allowed to see them (G15).
    ///
    /// - Parameter url: The address, with scheme `https` or `http`.
    /// - Returns: The path that leads there.
    public static func url(_ url: URL) -> EndpointPath {
        EndpointPath(target: .absolute(url), problem: nil)
    }

    private init(target: Target, problem: String?) {
        self.target = target
        self.problem = problem
    }
}

extension EndpointPath: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The path, percent-encoded; an address of its own as far as it may be told (G17).
    public var description: String {
        switch target {
        case .relative(let path): path
        case .absolute(let url): Redaction.url(url)
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows `dump` and debuggers what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["path": description], displayStyle: .struct) }
}

extension EndpointPath: ExpressibleByStringInterpolation {
    /// Takes a path written in code.
    ///
    /// - Parameter value: The path, not percent-encoded, with or without a leading slash.
    public init(stringLiteral value: String) {
        var pieces = StringInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0)
        pieces.appendLiteral(value)
        self.init(stringInterpolation: pieces)
    }

    /// Puts a path together from its pieces.
    ///
    /// - Parameter stringInterpolation: The pieces.
    public init(stringInterpolation: StringInterpolation) {
        self.init(target: .relative(stringInterpolation.path), problem: stringInterpolation.problem)
    }

    /// The pieces of a path: literal text, and values that are one segment each.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var path = ""
        private var literalProblem: String?
        private var segmentsWithValues: Set<Int> = []

        /// Makes room for a path.
        ///
        /// - Parameters:
        ///   - literalCapacity: The length of all literal text.
        ///   - interpolationCount: The number of values.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        /// Appends literal text, in which `/` separates segments.
        ///
        /// - Parameter literal: The text. It must not hold a query or a fragment.
        public mutating func appendLiteral(_ literal: String) {
            if literal.contains(where: { $0 == "?" || $0 == "#" }) {
                literalProblem = "a path holds no query and no fragment; use the query parameter"
            }
            let isStart = path.isEmpty && segmentsWithValues.isEmpty
            path += (isStart && literal.hasPrefix("/") ? String(literal.dropFirst()) : literal).percentEncodedPath
        }

        /// Appends a value as one segment, or as a part of one.
        ///
        /// An optional does not fit, so `Optional(7)` never gets into a path.
        ///
        /// - Parameter value: The value. Its description is percent-encoded as a whole.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            segmentsWithValues.insert(path.utf8.count { $0 == UInt8(ascii: "/") })
            path += value.description.percentEncodedComponent
        }

        fileprivate var problem: String? {
            if let literalProblem { return literalProblem }
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            if segments.contains(where: { $0 == "." || $0 == ".." }) {
                return "a path segment is \".\" or \"..\", which would change the path"
            }
            if segmentsWithValues.contains(where: { segments[$0].isEmpty }) {
                return "a value in the path is empty, which would change the path"
            }
            return nil
        }
    }
}
