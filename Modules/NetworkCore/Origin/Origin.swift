public import Foundation

/// The scheme, host and port of a URL (RFC 6454 §4). Origins are compared part by part, never as string prefixes.
public struct Origin: Sendable, Hashable {
    /// The scheme, `https` or `http`.
    public let scheme: String

    /// The host, in lower case, without a trailing dot; an IPv6 address without brackets.
    public let host: String

    /// The port.
    public let port: Int

    /// Creates the origin of a URL. `nil`: the URL is not http or https, or has no host.
    ///
    /// - Parameter url: The URL.
    public init?(_ url: URL) {
        if let plain = Self(plain: url.absoluteString) {
            self = plain
            return
        }
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            let defaultPort = Self.defaultPorts[scheme],
            let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        var name = host[...]
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        if name.hasSuffix(".") { name = name.dropLast() }
        guard !name.isEmpty else { return nil }
        self.scheme = scheme
        self.host = String(name)
        self.port = parts.port ?? defaultPort
    }

    /// Reads a URL whose origin is written plainly: a scheme, `://`, letters, digits, dots and hyphens, and a port. `nil`:
    /// it is written in another way, which URL parsers must read. This takes a tenth of their time.
    private init?(plain text: String) {
        var text = text
        let origin: Self? = text.withUTF8 { bytes in
            let schemes = ["https", "http"]
            guard let scheme = schemes.first(where: { bytes.starts(with: $0.utf8) }) else { return nil }
            let start = scheme.utf8.count + 3
            guard bytes.count > start, bytes[(start - 3)..<start].elementsEqual("://".utf8) else { return nil }
            let name = bytes[start...].prefix { $0.isPlainHostByte }
            guard let first = name.first, name.last != 0x2E, first != 0x2E, first != 0x2D else { return nil }
            // `xn--` begins a name that a parser decodes.
            guard !zip(name, name.dropFirst()).contains(where: { $0 == 0x2D && $1 == 0x2D }) else { return nil }
            var end = name.endIndex
            var port: Int?
            if end < bytes.count, bytes[end] == UInt8(ascii: ":") {
                let digits = bytes[(end + 1)...].prefix { $0 >= 0x30 && $0 <= 0x39 }
                guard (1...5).contains(digits.count) else { return nil }
                port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
                end = digits.endIndex
            }
            guard end == bytes.count || [0x2F, 0x3F, 0x23].contains(bytes[end]) else { return nil }
            return Self(
                scheme: scheme, host: String(decoding: name, as: UTF8.self),
                port: port ?? Self.defaultPorts[scheme] ?? 0)
        }
        guard let origin else { return nil }
        self = origin
    }

    private init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    private static let defaultPorts = ["https": 443, "http": 80]

    /// Whether requests to the origin are not encrypted.
    public var isCleartext: Bool { scheme == "http" }

    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as a URL, without the port if it is the default of the scheme.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPorts[scheme] ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}

extension Origin {
    /// Whether any request may be sent to the origin: it is encrypted, loopback, or a named exception (G16).
    func allowsRequests(cleartextExceptions: Set<Origin>) -> Bool {
        !isCleartext || isLoopback || cleartextExceptions.contains(self)
    }
}

/// Which origins may receive tokens (G15), and which may be reached over plain http (G16).
public struct OriginPolicy: Sendable, Hashable {
    /// Whether tokens may be sent to a URL.
    public enum Decision: Sendable, Hashable {
        /// Tokens may be sent.
        case allowed

        /// The origin is another one: the request is sent without tokens.
        case foreign

        /// The URL is plain http to another machine: no request with a token may be sent.
        case cleartext
    }

    /// The origins that may receive tokens.
    public let allowed: Set<Origin>

    /// The origins that may be reached over plain http, in addition to loopback.
    public let cleartextExceptions: Set<Origin>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowed: The origins that may receive tokens.
    ///   - cleartextExceptions: The origins that may be reached over plain http, in addition to loopback.
    public init(allowed: Set<Origin>, cleartextExceptions: Set<Origin> = []) {
        self.allowed = allowed
        self.cleartextExceptions = cleartextExceptions
    }

    /// Decides whether tokens may be sent to a URL.
    ///
    /// - Parameter url: The URL of a request.
    /// - Returns: The decision.
    public func decision(for url: URL) -> Decision {
        guard let origin = Origin(url), allowed.contains(origin) else { return .foreign }
        return origin.allowsRequests(cleartextExceptions: cleartextExceptions) ? .allowed : .cleartext
    }
}

extension UInt8 {
    /// A byte of a host that is written in one way only: a small letter, a digit, a dot or a hyphen.
    fileprivate var isPlainHostByte: Bool {
        (self >= 0x61 && self <= 0x7A) || (self >= 0x30 && self <= 0x39) || self == 0x2D || self == 0x2E
    }
}
