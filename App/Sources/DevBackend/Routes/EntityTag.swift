import Crypto
import Foundation
import HTTPTypes
import Hummingbird

/// A strong validator of what a response shows (RFC 9110 §8.8.3). The `meta` of the envelope is no part of it.
struct EntityTag: Sendable, Hashable {
    /// The tag with its quotes.
    let text: String

    /// The tag of some content: part of its digest.
    init(of content: Data) {
        let digest = SHA256.hash(data: content).prefix(16)
        text = "\"" + digest.map { String(format: "%02x", $0) }.joined() + "\""
    }

    /// The tag of a payload, in the form in which it is sent.
    init(of payload: some Encodable, in dialect: DevBackend.Dialect) throws {
        self.init(of: try JSONEncoder.api(dialect.identifiers).encode(payload))
    }

    /// Whether a field lists this tag, or is `*`. The weak comparison ignores `W/` (RFC 9110 §8.8.3.2): it is that of
    /// `If-None-Match`, and not that of `If-Match`.
    func isListed(in field: String, weakly: Bool) -> Bool {
        if field.trimmingCharacters(in: .whitespaces) == "*" { return true }
        return field.split(separator: ",").contains { item in
            let item = item.trimmingCharacters(in: .whitespaces)
            return item == text || (weakly && item == "W/" + text)
        }
    }

    /// Refuses a change that was made to another version (RFC 9110 §13.1.1).
    ///
    /// - Throws: `PRECONDITION_FAILED`.
    func checkIfMatch(of request: Request) throws {
        guard let field = request.headers[.ifMatch], !isListed(in: field, weakly: false) else { return }
        throw APIError(.preconditionFailed, "PRECONDITION_FAILED", "The resource has changed: read it again.")
            .with(.eTag, text)
    }

    /// The response to a client that has this version already, or nil (RFC 9110 §13.1.2).
    func notModified(_ request: Request) -> Response? {
        guard let field = request.headers[.ifNoneMatch], isListed(in: field, weakly: true) else { return nil }
        return Response(status: .notModified, headers: fields)
    }

    /// The tag, and that only this user's cache may keep the response, and asks before it is used, unless the client
    /// accepts what is stale: one that cannot reach the server may show what it has seen.
    var fields: HTTPFields { [.eTag: text, .cacheControl: "private, max-age=0"] }
}

/// The part of a file that a request asks for (RFC 9110 §14).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// Reads `Range` and `If-Range`. Anything but one valid range of bytes asks for the whole file, as §14.2 allows.
    init(of request: Request, count: Int, tag: EntityTag) {
        self = .whole
        guard let field = request.headers[.range], request.headers[.ifRange].map({ $0 == tag.text }) ?? true else {
            return
        }
        self.init(field, count: count)
    }

    init(_ field: String, count: Int) {
        self = .whole
        let pieces = field.split(separator: "=", omittingEmptySubsequences: false)
        guard pieces.count == 2, pieces[0].trimmingCharacters(in: .whitespaces).lowercased() == "bytes" else { return }
        let range = pieces[1].trimmingCharacters(in: .whitespaces)
        let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return }
        // A number that does not fit in Int is beyond every file.
        func number(_ text: Substring) -> Int { Int(text) ?? .max }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return
        case (true, false):
            let suffix = min(number(ends[1]), count)
            self = suffix > 0 ? .part(count - suffix..<count) : .unsatisfiable
        case (false, let isOpen):
            let (first, last) = (number(ends[0]), isOpen ? Int.max : number(ends[1]))
            guard first <= last else { return }
            self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
        }
    }
}
