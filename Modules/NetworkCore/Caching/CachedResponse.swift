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
        let selecting: [String: String]
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
    /// describe the body (RFC 9111 §3.2).
    mutating func update(by head: HTTPResponseHead, requestedAt: Date, receivedAt: Date, uptime: Duration) {
        let kept: Set = ["content-length", "content-encoding", "content-type", "content-range"]
        let new = Self.stored(head.headers).filter { !kept.contains($0[0].lowercased()) }
        let replaced = Set(new.map { $0[0].lowercased() })
        record.fields = record.fields.filter { !replaced.contains($0.first?.lowercased() ?? "") } + new
        (record.requestedAt, record.receivedAt, receivedUptime) = (requestedAt, receivedAt, uptime)
    }

    /// The values of the request's fields that a response's `Vary` names. `nil`: it varies by everything.
    ///
    /// `Authorization` is left out: the session stands for it, whose token changes.
    static func selecting(_ headers: HTTPHeaders, of request: HTTPRequestHead) -> [String: String]? {
        var selecting: [String: String] = [:]
        for value in headers.values(of: "Vary") {
            for name in value.split(separator: ",").map({ String($0).withoutSurroundingWhiteSpace.lowercased() }) {
                if name == "*" { return nil }
                if name != "authorization" { selecting[name] = request.headers[name] ?? "" }
            }
        }
        return selecting
    }

    /// Whether the response serves a request.
    static func selects(_ record: Record, _ request: HTTPRequestHead) -> Bool {
        record.selecting.allSatisfy { request.headers[$0.key] ?? "" == $0.value }
    }
}

/// How fresh a response is (RFC 9111 §4.2).
struct Freshness {
    /// The longest time for which a response without a time of its own counts as fresh.
    static let longestGuess: TimeInterval = 24 * 60 * 60

    let age: TimeInterval
    let lifetime: TimeInterval
    let control: CacheControl

    init(of response: CachedResponse, now: Date, uptime: Duration) {
        let (headers, record) = (response.headers, response.record)
        control = CacheControl(headers)
        let date = headers["Date"].flatMap(HTTPDate.init)?.date ?? record.receivedAt
        let announced = headers["Age"].flatMap { TimeInterval($0) }.map { max(0, $0) } ?? 0
        let delay = max(0, record.receivedAt.timeIntervalSince(record.requestedAt))
        let atReceipt = max(max(0, record.receivedAt.timeIntervalSince(date)), announced + delay)
        let kept =
            response.receivedUptime.map { (uptime - $0) / .seconds(1) } ?? now.timeIntervalSince(record.receivedAt)
        // A wall clock that was set back says nothing about the age.
        age = kept < 0 ? .infinity : atReceipt + kept
        lifetime = Self.lifetime(headers, control, status: record.status, date: date)
    }

    /// How long the response may be served after it became stale; negative while it is fresh.
    var staleness: TimeInterval { age - lifetime }

    var isFresh: Bool { age < lifetime }

    private static func lifetime(
        _ headers: HTTPHeaders, _ control: CacheControl, status: Int, date: Date
    ) -> TimeInterval {
        if let maxAge = control.seconds("max-age") { return maxAge }
        if let expires = headers["Expires"] {
            return HTTPDate(expires).map { max(0, $0.date.timeIntervalSince(date)) } ?? 0
        }
        guard isCacheableByDefault(status), let modified = headers["Last-Modified"].flatMap(HTTPDate.init)?.date else {
            return 0
        }
        return min(max(0, date.timeIntervalSince(modified) / 10), longestGuess)
    }

    /// Whether a status may be stored without a time (RFC 9110 §15.1), but for 206, which is a part.
    static func isCacheableByDefault(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
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
