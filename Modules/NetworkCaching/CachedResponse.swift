import AuthInterface
import Foundation
import NetworkCore

/// A response that a cache keeps, with what RFC 9111 needs to know of its request.
struct CachedResponse: Sendable {
    /// Whose responses these are, and of what. A file has no part of a request in it that can be read.
    struct Key: Sendable, Hashable, Codable {
        /// The session of the token. `nil`: of requests without one.
        let session: String?
        /// The digest of the URL.
        let url: String
        /// The digest of the fields with credentials. `nil`: there are none.
        let credentials: String?

        init(of request: HTTPTransportRequest, hash: KeyedHash) {
            session = request.context.session?.rawValue
            url = Self.url(request.head.url, hash: hash)
            credentials = request.credentials.map { hash("credentials\n" + $0) }
        }

        static func url(_ url: URL, hash: KeyedHash) -> String {
            hash("url\n" + url.absoluteString.prefix { $0 != "#" })
        }
    }

    /// Everything but the body.
    struct Record: Sendable, Codable {
        let key: Key
        /// The digests of the request's fields that `Vary` names, by their names in lower case.
        var selecting: [String: String]
        let status: Int
        var fields: [[String]]
        /// When the request was sent and the response arrived, on the wall clock.
        var requestedAt: Date
        var receivedAt: Date
        let length: Int
        let checksum: UInt64

        /// The bytes that the response takes.
        var size: Int {
            let texts = fields.joined() + selecting.flatMap { [$0.key, $0.value] }
            return length + key.url.utf8.count + texts.reduce(0) { $0 + $1.utf8.count } + 256
        }
    }

    var record: Record
    let body: Data
    /// When the response arrived, on the uptime of this process's clock. `nil`: it was read from a disk.
    var receivedUptime: Duration?

    var headers: HTTPHeaders { HTTPHeaders(record.fields.lazy.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) }

    /// The head, as of a response to a URL.
    func head(_ url: URL) -> HTTPResponseHead { HTTPResponseHead(status: record.status, headers: headers, url: url) }
}

extension CachedResponse {
    /// Fields that describe a connection (RFC 9111 §3.1) or are of use once, and are not stored.
    private static let unstoredFields: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "dpop-nonce",
    ]

    static func stored(_ headers: HTTPHeaders) -> [[String]] {
        headers.filter { !unstoredFields.contains($0.name.lowercased()) }.map { [$0.name, $0.value] }
    }

    /// The fields after a 304: those of the new response replace the stored ones of the same name, but for those that
    /// describe the body (RFC 9111 §3.2). The stored `Date` and `Age` are of the earlier response, and do not stay.
    mutating func update(by head: HTTPResponseHead, requestedAt: Date, receivedAt: Date, uptime: Duration) {
        let kept: Set = ["content-length", "content-encoding", "content-type", "content-range"]
        let new = Self.stored(head.headers).filter { !kept.contains($0[0].lowercased()) }
        let replaced = Set(new.map { $0[0].lowercased() } + ["date", "age"])
        record.fields = record.fields.filter { !replaced.contains($0.first?.lowercased() ?? "") } + new
        record.requestedAt = requestedAt
        record.receivedAt = receivedAt
        receivedUptime = uptime
    }

    /// The most fields by which a response may vary: each look-up compares the digest of each of them.
    private static let maximumVaryingFields = 32

    /// The digests of the request's fields that a response's `Vary` names (RFC 9111 §4.1). `nil`: it varies by
    /// everything, or by more than the maximum.
    static func selecting(
        _ headers: HTTPHeaders, of request: HTTPTransportRequest, hash: KeyedHash
    ) -> [String: String]? {
        var selecting: [String: String] = [:]
        for value in headers.values(of: "Vary") {
            for name in value.split(separator: ",").map({ String($0).withoutSurroundingWhiteSpace.lowercased() }) {
                if name == "*" || selecting.count == maximumVaryingFields { return nil }
                selecting[name] = request.selectingValue(of: name, hash: hash)
            }
        }
        return selecting
    }

    /// Whether the response serves a request.
    static func selects(_ record: Record, _ request: HTTPTransportRequest, hash: KeyedHash) -> Bool {
        record.selecting.allSatisfy { request.selectingValue(of: $0.key, hash: hash) == $0.value }
    }
}

extension HTTPTransportRequest {
    /// In place of a token of the session: no field can have it.
    private static let tokenOfSession = "\u{0}"

    /// A value by which requests are compared. The session stands for its tokens, which change: each is the same text,
    /// and what is beside it stays, such as the other cookies of a field.
    private func compared(_ value: String) -> String {
        let value = context.tokens.reduce(value) { $0.replacingOccurrences(of: $1, with: Self.tokenOfSession) }
        return value == "DPoP " + Self.tokenOfSession ? "Bearer " + Self.tokenOfSession : value
    }

    /// Whether a field proves the key of the session's token (RFC 9449): it says no more than the token, and is new in
    /// each request.
    private func isProof(_ name: String) -> Bool {
        name.equalsIgnoringASCIICase("DPoP") && head.headers["Authorization"].map { compared($0) != $0 } == true
    }

    /// The digest of a field. A field that is absent differs from an empty one, and several from one with their values.
    fileprivate func selectingValue(of name: String, hash: KeyedHash) -> String {
        isProof(name)
            ? "" : hash("field\n" + head.headers.values(of: name).map { "\(name):\(compared($0))\n" }.joined())
    }

    /// The fields that say for whom the response is, as they are compared: those whose names denote a secret, and those
    /// with a token of the session. `nil`: there are none.
    ///
    /// A server is to name them in `Vary`. One that does not must not cost a user the data of another.
    fileprivate var credentials: String? {
        let fields = head.headers.compactMap { field -> String? in
            let value = compared(field.value)
            guard value != field.value || Redaction.isSensitive(field.name), !isProof(field.name) else { return nil }
            return "\(field.name.lowercased()):\(value)\n"
        }
        return fields.isEmpty ? nil : fields.joined()
    }
}
