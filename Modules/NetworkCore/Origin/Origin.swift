public import Foundation

/// The scheme, host and port of a URL (RFC 6454 §4). Origins are compared part by part, never as string prefixes.
public struct Origin: Sendable, Hashable {
    /// The scheme, `https` or `http`.
    public let scheme: String

    /// The host, in lower case, without a trailing dot; an IPv6 address without brackets.
    public let host: String

    /// The port.
    public let port: Int

    /// The longest name of a host, in bytes (RFC 1035 §2.3.4).
    package static let longestHost = 253

    /// Creates the origin of a URL. `nil`: the URL is not http or https, or no server can have its host or port.
    ///
    /// Libraries below a transport read such a URL in different ways, or end the process. So a host is a name of at
    /// most 253 bytes or an address, without percent-encoding or zone (RFC 6874); a port is 1 to 65,535.
    public init?(_ url: URL) {
        if let plain = Self(plain: url.absoluteString) {
            self = plain
            return
        }
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            let defaultPort = Self.defaultPorts[scheme],
            let host = parts.host?.lowercased(),
            let written = WrittenHost(in: url.absoluteString),
            let name = written.name(readAs: host),
            let port = written.hasPort ? parts.port : defaultPort, Self.ports.contains(port)
        else { return nil }
        self.scheme = scheme
        self.host = name
        self.port = port
    }

    /// Reads a URL whose origin is written plainly: a scheme, `://`, letters, digits, dots and hyphens, and a port.
    /// `nil`: URL parsers must read it, which takes ten times as long. Such a URL has no user information.
    init?(plain text: String) {
        let isEncrypted = text.hasPrefix("https://")
        guard isEncrypted || text.hasPrefix("http://") else { return nil }
        var text = text
        let read: (host: String, port: Int)? = text.withUTF8 { bytes in
            var rest = bytes.dropFirst(isEncrypted ? 8 : 7)
            let name = rest.prefix { $0.isPlainHostByte }
            rest = rest[name.endIndex...]
            let (dot, hyphen) = (UInt8(ascii: "."), UInt8(ascii: "-"))
            // `xn--` begins a name that a parser decodes.
            guard let first = name.first, first != dot, first != hyphen, name.last != dot,
                name.count <= Self.longestHost, !zip(name, name.dropFirst()).contains(where: { $0 == (hyphen, hyphen) })
            else { return nil }
            var port = isEncrypted ? 443 : 80
            if rest.first == UInt8(ascii: ":") {
                let digits = rest.dropFirst().prefix { $0.isDigit }
                guard digits.count <= 5 else { return nil }
                let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
                guard Self.ports.contains(number) else { return nil }
                port = number
                rest = rest[digits.endIndex...]
            }
            guard rest.first.map({ "/?#".utf8.contains($0) }) ?? true else { return nil }
            return (String(decoding: name, as: UTF8.self), port)
        }
        guard let (host, port) = read else { return nil }
        scheme = isEncrypted ? "https" : "http"
        self.host = host
        self.port = port
    }

    /// The ports of URLs that name none (RFC 9110 §4.2).
    package static let defaultPorts = ["https": 443, "http": 80]
    private static let ports = 1...65_535

    /// Whether requests to the origin are not encrypted.
    public var isCleartext: Bool { scheme == "http" }

    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    public var isLoopback: Bool {
        var address = in_addr()
        return host == "localhost" || host == "::1"
            || (inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127)
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
    /// Why a URL has no origin.
    package static let problem = "the URL is not http or https, or no server can have its host or its port"

    /// The usual reason for which a server of https links to itself over http, to be put after a reason; else empty.
    package func hint(to own: Origin?) -> String {
        guard isCleartext, own?.scheme == "https", own?.host == host else { return "" }
        return "; the server may be behind a proxy that ends TLS, and must then read X-Forwarded-Proto"
    }

    /// Whether any request may be sent to the origin: it is encrypted, loopback, or a named exception (G16).
    func allowsRequests(cleartextExceptions: Set<Origin>) -> Bool {
        !isCleartext || isLoopback || cleartextExceptions.contains(self)
    }
}

extension UInt8 {
    /// A byte of a host that is written in one way only: a small letter, a digit, a dot or a hyphen.
    fileprivate var isPlainHostByte: Bool { (self >= 0x61 && self <= 0x7A) || isDigit || self == 0x2D || self == 0x2E }

    /// A byte of an IPv6 address, in small letters (RFC 4291 §2.2).
    fileprivate var isAddressByte: Bool { isDigit || (self >= 0x61 && self <= 0x66) || self == 0x3A || self == 0x2E }

    /// A byte that no name of a host has: a control, a space, or one that ends a host in another reading of a URL.
    fileprivate var isForbiddenInHost: Bool {
        self <= 0x20 || self == 0x7F || "\"#%/:<>?@[\\]^`{|}".utf8.contains(self)
    }
}

/// The host and the port of a URL as they are written.
private struct WrittenHost {
    private let host: Substring.UTF8View
    let hasPort: Bool

    /// Reads an absolute URL. `nil`: it has no host.
    init?(in text: String) {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        var rest = bytes[bytes.index(colon, offsetBy: 3)...].prefix { !"/?#".utf8.contains($0) }
        if let user = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: user)...] }
        let name = rest.prefix { $0 != UInt8(ascii: ":") }
        let end = rest.first == UInt8(ascii: "[") ? rest.firstIndex(of: UInt8(ascii: "]")) : nil
        host = end.map { rest[...$0] } ?? name
        // A colon with nothing behind it stands for the default port (RFC 3986 §3.2.3).
        hasPort = rest[host.endIndex...].count > 1
    }

    /// The name or the address, as a parser has read it: with the letters of an international name.
    func name(readAs read: String) -> String? {
        let length = host.last == UInt8(ascii: ".") ? host.count - 1 : host.count
        guard (1...Origin.longestHost).contains(length), !host.contains(UInt8(ascii: "%")) else { return nil }
        if host.first == UInt8(ascii: "[") {
            let address = read.utf8.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
            guard address.contains(UInt8(ascii: ":")), address.allSatisfy(\.isAddressByte) else { return nil }
            return String(Substring(address))
        }
        let name = read.hasSuffix(".") ? read.dropLast() : read[...]
        guard !name.isEmpty, !name.utf8.contains(where: \.isForbiddenInHost) else { return nil }
        return String(name)
    }
}
