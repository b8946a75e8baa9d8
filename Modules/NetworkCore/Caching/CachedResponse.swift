import AuthInterface
import Foundation

/// A response that a cache keeps, with what RFC 9111 needs to know of its request.
struct CachedResponse: Sendable {
    /// The session whose responses these are. `nil`: of requests without a token.
    struct Key: Sendable, Hashable, Codable {
        let session: String?
        let url: String

        init(session: SessionID?, url: URL) {
            self.session = session?.rawValue
            self.url = String(url.absoluteString.prefix { $0 != "#" })
        }
    }

    /// Everything but the body.
    struct Record: Sendable, Codable {
        let key: Key
        /// The values of the request's fields that `Vary` names, by their names in lower case.
        var selecting: [String: String]
        let status: Int
        var fields: [[String]]
        /// When the request was sent and the response arrived, on the wall clock.
        var requestedAt: Date
        var receivedAt: Date
        let length: Int
        let checksum: UInt64
    }

    var record: Record
    let body: Data
    /// When the response arrived, on the uptime of this process's clock. `nil`: it was read from a disk.
    var receivedUptime: Duration?

    var headers: HTTPHeaders {
        HTTPHeaders(record.fields.lazy.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
    }

    /// The head, as of a response to a URL.
    func head(_ url: URL) -> HTTPResponseHead {
        HTTPResponseHead(status: record.status, headers: headers, url: url)
    }

    /// The bytes that the response takes.
    var size: Int { Self.size(of: record) }

    static func size(of record: Record) -> Int {
        record.length + record.key.url.utf8.count + record.fields.joined().reduce(0) { $0 + $1.utf8.count } + 256
    }
}

extension CachedResponse {
    /// Fields that describe a connection, and are not stored (RFC 9111 §3.1).
    private static let unstoredFields: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
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
        (record.requestedAt, record.receivedAt, receivedUptime) = (requestedAt, receivedAt, uptime)
    }

    /// The values of the request's fields that a response's `Vary` names. `nil`: it varies by everything.
    ///
    /// `Authorization`, and each field with a secret of the call, is left out: the session stands for its token, which
    /// changes and must not be in a file.
    static func selecting(_ headers: HTTPHeaders, of request: HTTPTransportRequest) -> [String: String]? {
        var selecting: [String: String] = [:]
        for value in headers.values(of: "Vary") {
            for name in value.split(separator: ",").map({ String($0).withoutSurroundingWhiteSpace.lowercased() }) {
                if name == "*" { return nil }
                let value = request.head.headers[name] ?? ""
                let isToken = request.context.secrets.contains { !$0.isEmpty && value.contains($0) }
                if name != "authorization", !isToken { selecting[name] = value }
            }
        }
        return selecting
    }

    /// Whether the response serves a request.
    static func selects(_ record: Record, _ request: HTTPRequestHead) -> Bool {
        record.selecting.allSatisfy { request.headers[$0.key] ?? "" == $0.value }
    }
}

extension Data {
    /// A number that shows whether bytes have changed (FNV-1a, by words of 8 bytes). It proves nothing to an attacker.
    var checksum: UInt64 {
        let prime: UInt64 = 0x0000_0100_0000_01B3
        return withUnsafeBytes { bytes in
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            let words = bytes.count / 8
            for index in 0..<words {
                let word = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
                sum = (sum ^ word.littleEndian) &* prime
            }
            for byte in bytes[(words * 8)...] { sum = (sum ^ UInt64(byte)) &* prime }
            return sum
        }
    }
}
