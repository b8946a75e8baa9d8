import ConcurrencyPrimitives
import Foundation

// The rules of RFC 9111 and RFC 5861.

extension HTTPTransportRequest {
    /// Whether a response may be kept, or served from what is kept.
    var isCacheable: Bool {
        let passing = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        guard head.method == .get, body.isEmpty, !passing.contains(where: { head.headers[$0] != nil }) else {
            return false
        }
        // Without a session, a credential does not say whose response it is.
        return context.session != nil || (head.headers["Authorization"] == nil && head.headers["Cookie"] == nil)
    }
}

extension HTTPMethod {
    /// Whether the method only reads (RFC 9110 §9.2.1).
    var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(rawValue) }
}

extension HTTPResponseHead {
    /// Whether the response may be kept (RFC 9111 §3), and could ever be served.
    var isStorable: Bool {
        let control = CacheControl(headers)
        guard status >= 200, ![206, 304, 401, 403].contains(status), !control.has("no-store") else { return false }
        let hasTime = control.has("max-age") || headers["Expires"] != nil
        guard Freshness.isCacheableByDefault(status) || (hasTime && status != 407) else { return false }
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

    private var mayBeStale: Bool { !control.has("must-revalidate") && !control.has("no-cache") && age.isFinite }
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

    /// The response after the server has said that it is valid.
    func validated(_ request: HTTPTransportRequest) -> HTTPTransportResponse {
        response(headers, to: request)
    }

    private func response(_ headers: HTTPHeaders, to request: HTTPTransportRequest) -> HTTPTransportResponse {
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
