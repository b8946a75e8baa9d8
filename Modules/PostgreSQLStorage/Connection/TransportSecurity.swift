#if PostgreSQL
import Foundation

/// The rule that tokens are sent over TLS, or do not leave the host (G16).
///
/// libpq's default, `sslmode=prefer`, silently uses an unencrypted connection when the server offers no TLS. Here that
/// is allowed on loopback and Unix sockets only, and for hosts in ``cleartextHosts``.
struct TransportSecurity: Sendable {
    enum Rule: Equatable {
        /// The connection string is safe as it is.
        case asGiven

        /// The connection string leaves the decision to the server.
        case requireTLS

        case refuse(String)
    }

    /// In lower case.
    let cleartextHosts: Set<String>

    /// Checks a connection before it is opened.
    ///
    /// The host and mode of a service file are known only when the connection is open. Then
    /// ``checkOpen(isEncrypted:host:peer:)`` checks it, before a token is sent.
    func rule(for options: [String: String], environment: [String: String]) -> Rule {
        func setting(_ keyword: String, _ variable: String) -> String? { options[keyword] ?? environment[variable] }
        let hasService = setting("service", "PGSERVICE") != nil
        let mode = setting("sslmode", "PGSSLMODE")
        if let mode, ["require", "verify-ca", "verify-full"].contains(mode) { return .asGiven }
        let hosts = (setting("hostaddr", "PGHOSTADDR") ?? setting("host", "PGHOST") ?? "")
            .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        if hosts.allSatisfy({ Self.isLocal($0) || isNamed($0) }) { return .asGiven }
        if mode == "disable" { return .refuse(Self.advice) }
        // An explicit mode would override a stricter one in the service file.
        return hasService ? .asGiven : .requireTLS
    }

    /// Checks an open connection, before a token is sent over it. Returns why it must not be used; `nil` when it may
    /// be.
    func checkOpen(isEncrypted: Bool, host: String, peer: Data) -> String? {
        isEncrypted || isNamed(host) || Self.isLocal(peer) ? nil : Self.advice
    }

    private static let advice =
        "the connection to another host would not be encrypted; set sslmode=verify-full, or add the host to cleartextHosts"

    private func isNamed(_ host: String) -> Bool { cleartextHosts.contains(host.lowercased()) }

    /// Whether a host in libpq's format is this one: a Unix socket (libpq's default), or loopback.
    static func isLocal(_ host: String) -> Bool {
        if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host.lowercased() == "localhost" {
            return true
        }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        return withUnsafeBytes(of: six) { isLoopback(Array($0)) }
    }

    /// Whether the peer address of a socket (`sockaddr`) is on this host.
    static func isLocal(_ peer: Data) -> Bool {
        peer.withUnsafeBytes { bytes in
            guard bytes.count >= MemoryLayout<sockaddr>.size else { return bytes.count > 0 && isUnix(bytes) }
            switch Int32(bytes.loadUnaligned(as: sockaddr.self).sa_family) {
            case AF_UNIX: return true
            case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
                return UInt32(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr) >> 24 == 127
            case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
                let address = bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                return withUnsafeBytes(of: address) { isLoopback(Array($0)) }
            default: return false
            }
        }
    }

    /// The address of an unnamed Unix socket is its family alone.
    private static func isUnix(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return false }
        #if canImport(Darwin)
        return Int32(bytes.loadUnaligned(fromByteOffset: 1, as: sa_family_t.self)) == AF_UNIX
        #else
        return Int32(bytes.loadUnaligned(as: sa_family_t.self)) == AF_UNIX
        #endif
    }

    /// Whether the sixteen bytes are `::1`, or `127.0.0.0/8` mapped into IPv6.
    private static func isLoopback(_ bytes: [UInt8]) -> Bool {
        let isOne = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isOne || isMapped && bytes[12] == 127
    }
}
#endif
