import ConcurrencyPrimitives
import Foundation
import NetworkCore

/// How fresh a response is (RFC 9111 §4.2).
struct Freshness {
    /// The longest time for which a response without a time of its own counts as fresh.
    static let longestGuess: TimeInterval = 24 * 60 * 60

    let age: TimeInterval
    let lifetime: TimeInterval
    let control: CacheControl

    init(of response: CachedResponse, now: Date, uptime: Duration) {
        let headers = response.headers
        let record = response.record
        control = CacheControl(headers)
        let date = headers["Date"].flatMap { HTTPDate($0) }?.date ?? record.receivedAt
        let announced = Self.age(headers) ?? 0
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

    /// The `Age` of a response. Of several values, the first one counts (RFC 9111 §5.1). `nil`: it has none.
    static func age(_ headers: HTTPHeaders) -> TimeInterval? {
        let first = headers.values(of: "Age").first?.prefix { $0 != "," }
        let text = first.map { String($0).withoutSurroundingWhiteSpace } ?? ""
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !text.isEmpty else { return nil }
        return TimeInterval(min(Int(text) ?? .max, CacheControl.longestTime))
    }

    private static func lifetime(
        _ headers: HTTPHeaders, _ control: CacheControl, status: Int, date: Date
    ) -> TimeInterval {
        if let maxAge = control.seconds("max-age") { return maxAge }
        if let expires = headers["Expires"] {
            return HTTPDate(expires).map { max(0, $0.date.timeIntervalSince(date)) } ?? 0
        }
        guard isCacheableByDefault(status), let modified = headers["Last-Modified"].flatMap({ HTTPDate($0)?.date })
        else { return 0 }
        return min(max(0, date.timeIntervalSince(modified) / 10), longestGuess)
    }

    /// Whether a status may be stored without a time (RFC 9110 §15.1), but for 206, which is a part.
    static func isCacheableByDefault(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }
}

extension HTTPTransportRequest {
    /// Whether a response may be kept, or served from what is kept.
    var isCacheable: Bool {
        let passing = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        guard head.method == .get, body.isEmpty, !passing.contains(where: { head.headers[$0] != nil }) else {
            return false
        }
        // Without a session, a credential does not say whose response it is.
        return context.session != nil || !head.headers.contains { Redaction.isSensitive($0.name) }
    }
}

extension HTTPResponseHead {
    /// The statuses that are not kept: parts and validations, refused credentials, and those of RFC 6585.
    private static let unstoredStatuses: Set = [206, 304, 401, 403, 407, 428, 429, 431, 511]

    /// The failures that say nothing of the resource, but for those of 5xx: of the request, its token, time and rate.
    private static let failuresOfRequests: Set = [400, 401, 407, 408, 419, 425, 428, 429, 431, 440, 498]

    /// Whether the response takes the place of a kept one, also where it is not kept itself.
    var replaces: Bool { (200..<500).contains(status) && status != 304 && !Self.failuresOfRequests.contains(status) }

    /// Whether what is kept is not for the caller any more. With a session, a 401 refuses the token only.
    func refuses(_ request: HTTPTransportRequest) -> Bool {
        status == 403 || (status == 401 && request.context.session == nil)
    }

    /// Whether the response may be kept (RFC 9111 §3), and could ever be served.
    var isStorable: Bool {
        let control = CacheControl(headers)
        guard status >= 200, !Self.unstoredStatuses.contains(status), !control.has("no-store") else { return false }
        let hasTime = control.has("max-age") || headers["Expires"] != nil
        guard Freshness.isCacheableByDefault(status) || hasTime else { return false }
        return hasTime || headers["ETag"] != nil || headers["Last-Modified"] != nil
    }
}

extension Freshness {
    /// Whether the response may be served without a question to the server.
    func serves(_ request: CacheControl) -> Bool {
        guard !control.has("no-cache"), !request.has("no-cache") else { return false }
        if let maxAge = request.seconds("max-age"), age > maxAge { return false }
        if let minFresh = request.seconds("min-fresh"), -staleness < minFresh { return false }
        if isFresh { return true }
        guard mayBeStale, request.has("max-stale") else { return false }
        return request.isWithoutValue("max-stale") || staleness <= request.seconds("max-stale") ?? 0
    }

    /// Whether the response may be served while the server is asked (RFC 5861 §3).
    func servesWhileRevalidating(_ request: CacheControl) -> Bool {
        guard mayBeStale, !request.has("no-cache"), !request.has("max-age"), !request.has("min-fresh") else {
            return false
        }
        return control.seconds("stale-while-revalidate").map { staleness <= $0 } ?? false
    }

    /// Whether the response may be served in place of an error (RFC 5861 §4).
    func servesOnError(_ request: CacheControl) -> Bool {
        guard mayBeStale, !request.has("no-cache") else { return false }
        let times = [control.seconds("stale-if-error"), request.seconds("stale-if-error")].compactMap(\.self)
        return times.contains { staleness <= $0 }
    }

    private var mayBeStale: Bool { !control.has("must-revalidate") && !control.has("no-cache") }
}

extension CachedResponse {
    func age(_ clock: any TimeSource) -> TimeInterval {
        Freshness(of: self, now: clock.date, uptime: clock.uptime).age
    }

    /// The request with the validators of the response.
    func conditional(_ request: HTTPTransportRequest) -> HTTPTransportRequest {
        var copy = request
        copy.head.headers["If-None-Match"] = headers["ETag"]
        copy.head.headers["If-Modified-Since"] = headers["Last-Modified"]
        return copy
    }

    /// The response, served without contact to the server.
    func served(to request: HTTPTransportRequest, age: TimeInterval) -> HTTPTransportResponse {
        var headers = headers
        headers.remove("Date")
        headers["Age"] = "\(Int(min(max(0, age), TimeInterval(CacheControl.longestTime))))"
        return response(headers, to: request)
    }

    func response(_ headers: HTTPHeaders, to request: HTTPTransportRequest) -> HTTPTransportResponse {
        let progress = TransferProgress(completed: Int64(body.count), total: Int64(body.count))
        request.onEvent?(HTTPTransportEvent(.received, progress: progress))
        let head = HTTPResponseHead(status: record.status, headers: headers, url: request.head.url)
        return HTTPTransportResponse(head: head, body: HTTPBody(body))
    }
}

extension HTTPTransportResponse {
    /// Nothing is kept that may be served (RFC 9111 §5.2.1.7).
    static func gatewayTimeout(_ request: HTTPTransportRequest) -> HTTPTransportResponse {
        HTTPTransportResponse(head: HTTPResponseHead(status: 504, url: request.head.url))
    }
}
