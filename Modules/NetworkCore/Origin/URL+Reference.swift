package import Foundation

extension URL {
    /// Reads the reference in a field of a response, such as `Location` (RFC 3986 §4.1).
    ///
    /// Only bytes that no URL has are encoded, and nothing is encoded twice: `/a%20b/ü?sig=c%2Fd` is
    /// `/a%20b/%C3%BC?sig=c%2Fd`. `URL(string:)` alone encodes the percent signs beside a raw character again.
    package init?(reference: String, relativeTo base: URL?) {
        // A host is encoded in another way, which the platform knows.
        let origin = reference.prefixMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*:)?\/\/[^\/?#]*/)?.output.0 ?? ""
        let rest = reference.dropFirst(origin.count).replacing(/%(?![0-9A-Fa-f]{2})/, with: "%25")
        self.init(string: origin + String(rest).percentEncodedReference, relativeTo: base)
    }
}
