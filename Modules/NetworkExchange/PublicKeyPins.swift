package import Foundation
import NetworkCore

/// The public keys that hosts must have, beside a valid certificate (RFC 7469 §2.4).
///
/// ```swift
/// let pins = try PublicKeyPins(["api.example.com": ["r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=", backup]])
/// ```
///
/// A pin is the SHA-256 of the subject public key information of the host's own certificate, in base 64:
///
/// ```
/// openssl x509 -in host.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
///
/// A connection whose key is not among the pins is closed before a byte of a request is sent, with code `tlsFailed`.
/// Pin a second key that is not in use yet: with one pin, a lost key locks every installed client out.
public struct PublicKeyPins: Sendable, Hashable {
    private let keys: [String: Set<Data>]

    /// No pins.
    public init() { keys = [:] }

    /// Creates pins.
    ///
    /// - Parameter hosts: The pins of each host, in base 64. A host is a name or an address, without a port. It matches
    ///   itself only, not its subdomains.
    /// - Throws: `HTTPTransportError` with code `tlsFailed` when a host name is invalid, a pin is not a base64
    ///   SHA-256, or a host has no pin.
    public init(_ hosts: [String: Set<String>]) throws {
        var keys: [String: Set<Data>] = [:]
        for (host, pins) in hosts {
            let decoded = pins.compactMap { Data(base64Encoded: $0) }.filter { $0.count == 32 }
            guard !decoded.isEmpty, decoded.count == pins.count else {
                throw HTTPTransportError(.tlsFailed, reason: "a pin is not a SHA-256 in base 64, or a host has no pin")
            }
            keys[try Self.normalized(host), default: []].formUnion(decoded)
        }
        self.keys = keys
    }

    /// The host as origins name it. Another spelling would match no request, and leave its host without pins.
    private static func normalized(_ host: String) throws -> String {
        let isAddress = host.count { $0 == ":" } > 1
        let name = isAddress && !host.hasPrefix("[") ? "[\(host)]" : host
        let hasPort = isAddress ? !name.hasSuffix("]") : name.contains(":")
        guard !hasPort, !name.contains(where: { "/?#@".contains($0) }), let url = URL(string: "https://\(name)/"),
            let origin = Origin(url)
        else {
            throw HTTPTransportError(.tlsFailed, reason: "a pinned host is not a name or an address without a port")
        }
        return origin.host
    }

    /// The pins of a host; `nil` where it has none. A library may spell the host in another way than origins do.
    package func keys(of host: String?) -> Set<Data>? {
        guard let host, !keys.isEmpty else { return nil }
        return keys[host] ?? (try? Self.normalized(host)).flatMap { keys[$0] }
    }
}
