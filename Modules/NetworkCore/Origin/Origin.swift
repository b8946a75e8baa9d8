public import Foundation

/// Who is spoken to: scheme, host and port (RFC 6454 §4), compared as such and never as the beginning of a text.
public struct Origin: Sendable, Hashable {
    /// The scheme, `https` or `http`.
    public let scheme: String

    /// The host, in lower case, without a trailing dot; an IPv6 address without brackets.
    public let host: String

    /// The port.
    public let port: Int

    /// Takes the origin of an address. Fails when that is not http or https, or has no host.
    ///
    /// - Parameter url: The address.
    public init?(_ url: URL) {
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

    private static let defaultPorts = ["https": 443, "http": 80]

    /// Whether what is sent there can be read on the way.
    public var isCleartext: Bool { scheme == "http" }

    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as an address, the port left out where it is the scheme's own.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPorts[scheme] ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
