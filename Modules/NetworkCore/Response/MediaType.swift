/// A media type without its parameters (RFC 9110 §8.3.1), in lower case: `application/json`.
package struct MediaType: Hashable {
    package let text: String

    /// Reads a `Content-Type` field, or one item of an `Accept` field. Fails where there is no type.
    package init?(_ field: (some StringProtocol)?) {
        text = String((field ?? "").prefix { $0 != ";" }).withoutSurroundingWhiteSpace.lowercased()
        guard text.contains("/") else { return nil }
    }

    /// Whether a browser shows it as a page, as the responses of gateways, proxies and login portals.
    package var isHTML: Bool { text == "text/html" || text == "application/xhtml+xml" }

    /// Whether a list as in an `Accept` field names the type itself: a wildcard does not ask for it.
    package func isNamed(in list: String) -> Bool { list.split(separator: ",").contains { MediaType($0) == self } }
}

extension HTTPResponse {
    /// The body as text, where it is `text/plain`.
    var plainText: String? {
        MediaType(headers.first(of: "Content-Type"))?.text == "text/plain" ? String(utf8OrLatin1: body) : nil
    }

    /// Refuses a page that is not among the media types which the reading accepts, or which the endpoint asks for.
    ///
    /// - Throws: ``NetworkError`` with code `decodingFailed`.
    func refusePage(unless accepted: [String], _ requested: String?) throws {
        guard !body.isEmpty, let type = MediaType(headers.first(of: "Content-Type")), type.isHTML else { return }
        guard !accepted.contains(where: type.isNamed), requested.map(type.isNamed) != true else { return }
        let reason = "the response is a page (HTML), and the endpoint does not ask for one"
        throw NetworkError(.decodingFailed, reason: reason, response: head)
    }
}

extension String {
    /// Reads bytes as UTF-8, or where they are not, each as one character of ISO-8859-1.
    package init(utf8OrLatin1 bytes: some Sequence<UInt8>) {
        self = String(validating: bytes, as: UTF8.self) ?? String(UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
