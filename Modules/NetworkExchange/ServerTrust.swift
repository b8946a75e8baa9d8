public import Foundation
import NetworkCore

/// Which servers a transport trusts: the system's authorities or an application's own, and the public keys of hosts.
///
/// ```swift
/// let trust = try ServerTrust(authorities: ServerTrust.certificates(inPEM: text), pins: pins)
/// let transport = AsyncHTTPClientTransport(trust: trust)  // on Apple platforms: try URLSessionTransport(trust: trust)
/// ```
///
/// Both transports understand the same value. On Linux, `URLSession` has no way to use it: `URLSessionTransport`
/// refuses one there when it is made, and `AsyncHTTPClientTransport` is the transport to use.
public struct ServerTrust: Sendable, Hashable {
    /// The system's authorities, and no pins.
    public static let system = ServerTrust()

    /// The certificates (X.509, DER) of the authorities that are trusted. Empty: the system's are.
    public let authorities: [Data]

    /// The public keys that hosts must have, beside a valid certificate.
    public let pins: PublicKeyPins

    private init() { (authorities, pins) = ([], PublicKeyPins()) }

    /// Creates a value.
    ///
    /// - Throws: `HTTPTransportError` with code `tlsFailed` when one of `authorities` is no certificate.
    public init(authorities: [Data] = [], pins: PublicKeyPins = PublicKeyPins()) throws {
        guard authorities.allSatisfy({ Certificate.subjectPublicKeyInfo(of: Array($0)) != nil }) else {
            throw HTTPTransportError(.tlsFailed, reason: "an authority is not a certificate in DER")
        }
        self.authorities = authorities
        self.pins = pins
    }

    /// Reads certificates from text (RFC 7468).
    ///
    /// - Parameter text: The text. What is outside of `-----BEGIN CERTIFICATE-----` and its end is ignored.
    /// - Returns: The certificates in DER, at least one.
    /// - Throws: `HTTPTransportError` with code `tlsFailed` when there is none, or one is not base 64.
    public static func certificates(inPEM text: String) throws -> [Data] {
        let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
        let certificates = parts.map { part in
            let lines = part.components(separatedBy: "-----END CERTIFICATE-----")
            return lines.count > 1 ? Data(base64Encoded: lines[0], options: .ignoreUnknownCharacters) : nil
        }
        guard !certificates.isEmpty, !certificates.contains(nil) else {
            throw HTTPTransportError(.tlsFailed, reason: "the text has no certificate in PEM, or one that is cut short")
        }
        return certificates.compactMap(\.self)
    }
}

/// The part of a certificate that pins are compared with.
package enum Certificate {
    /// The subject public key information (RFC 5280 §4.1), as DER. `nil`: the bytes are no certificate.
    package static func subjectPublicKeyInfo(of bytes: [UInt8]) -> [UInt8]? {
        var outer = DERReader(bytes[...])
        guard var certificate = outer.enter(.sequence), outer.isAtEnd, var fields = certificate.enter(.sequence) else {
            return nil
        }
        // Version, serial number, algorithm, issuer, validity, subject.
        if fields.nextTag == DERReader.Tag.version.rawValue { _ = fields.element() }
        for _ in 0..<5 { guard fields.element() != nil else { return nil } }
        guard fields.nextTag == DERReader.Tag.sequence.rawValue else { return nil }
        return fields.element().map { Array($0) }
    }
}

/// Reads elements of X.690 §8 one after the other.
private struct DERReader {
    enum Tag: UInt8 {
        case sequence = 0x30
        case version = 0xA0
    }

    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { bytes.isEmpty }
    var nextTag: UInt8? { bytes.first }

    /// The next element with its tag and its length.
    mutating func element() -> ArraySlice<UInt8>? { next()?.element }

    /// The content of the next element, which has a tag.
    mutating func enter(_ tag: Tag) -> DERReader? {
        guard nextTag == tag.rawValue else { return nil }
        return next().map { DERReader($0.content) }
    }

    private mutating func next() -> (element: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        guard bytes.count >= 2 else { return nil }
        var start = bytes.startIndex + 2
        var length = Int(bytes[start - 1])
        if length >= 0x80 {
            // A certificate is shorter than 16 MiB.
            let count = length - 0x80
            guard (1...3).contains(count), bytes.endIndex - start >= count else { return nil }
            length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard bytes.endIndex - start >= length else { return nil }
        let end = start + length
        defer { bytes = bytes[end...] }
        return (bytes[..<end], bytes[start..<end])
    }
}
