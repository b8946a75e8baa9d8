import Foundation

/// Decides whether a redirect is followed and with which fields and body, alike for every transport and platform.
///
/// Platforms differ: one removes `Authorization` for another host, another copies every field to it; one drops a body
/// that must be kept. Here a request that leaves its origin keeps only fields that are the same for every server, and
/// never a body: bodies contain refresh tokens (G15).
struct RedirectPolicy: Sendable {
    enum Decision: Equatable {
        /// The response is no redirect, or a redirect without a location: it is the response to the call.
        case none

        case follow(OutgoingRequest)

        case refuse(NetworkError.Code, reason: String)
    }

    /// The next request of an attempt.
    struct OutgoingRequest: Equatable {
        var request: HTTPRequestHead
        var keepsBody: Bool
        var leavesOrigin: Bool
    }

    /// The statuses of redirects that name their target (RFC 9110 §15.4).
    static let statuses = [301, 302, 303, 307, 308]

    /// The fields that may be sent to any origin, in lower case: they describe the client program, not its user, or the
    /// place from which a download or an event stream goes on.
    static let fieldsForAnyOrigin: Set = [
        "accept", "accept-language", "accept-encoding", "user-agent", "range", "if-range", "last-event-id",
    ]

    /// The fields that describe a body, in lower case. They are removed with the body (RFC 9110 §15.4).
    private static let bodyFields: Set = [
        "content-type", "content-length", "content-encoding", "content-language", "content-location", "digest",
        "content-digest", "transfer-encoding", "last-modified",
    ]

    let cleartextExceptions: Set<Origin>
    var rule = RedirectRule.follow

    func decision(
        for response: HTTPResponseHead, to request: HTTPRequestHead, hasBody: Bool, isReplayable: Bool
    ) -> Decision {
        if let refusal = refusal(of: response, to: request) { return refusal }
        guard Self.statuses.contains(response.status),
            let location = response.headers["Location"], let origin = Origin(request.url)
        else { return .none }
        guard let target = URL(reference: location, relativeTo: request.url)?.absoluteURL,
            let targetOrigin = Origin(target)
        else {
            return .refuse(.redirectRefused, reason: "in its location, \(Origin.problem)")
        }
        guard target.user == nil, target.password == nil else {
            return .refuse(.redirectRefused, reason: "its location contains user information")
        }
        guard targetOrigin.allowsRequests(cleartextExceptions: cleartextExceptions) else {
            return .refuse(.redirectRefused, reason: "its location is plain http\(targetOrigin.hint(to: origin))")
        }
        let method = Self.method(after: response.status, of: request.method)
        let keepsBody = hasBody && method == request.method
        let leavesOrigin = targetOrigin != origin
        if leavesOrigin, rule != .follow {
            return .refuse(.redirectRefused, reason: "it leads to another origin, \(targetOrigin)")
        }
        if keepsBody, leavesOrigin {
            return .refuse(.redirectRefused, reason: "it would send the body to another origin, \(targetOrigin)")
        }
        if keepsBody, !isReplayable {
            return .refuse(.bodyNotReplayable, reason: "it needs the body again, which is a one-shot stream")
        }
        var next = request
        next.url = target
        next.method = method
        next.headers.removeAll { field in
            let name = field.name.lowercased()
            let isKept = leavesOrigin ? Self.fieldsForAnyOrigin.contains(name) : true
            return !isKept || (!keepsBody && Self.bodyFields.contains(name))
        }
        return .follow(OutgoingRequest(request: next, keepsBody: keepsBody, leavesOrigin: leavesOrigin))
    }

    /// Refuses the redirects that the rule excludes, and a response of another origin, to which the transport went.
    private func refusal(of response: HTTPResponseHead, to request: HTTPRequestHead) -> Decision? {
        guard rule != .follow else { return nil }
        if let origin = response.url.flatMap(Origin.init), origin != Origin(request.url) {
            return .refuse(.redirectRefused, reason: "the transport followed it itself, to \(origin)")
        }
        guard rule == .refuse, (300..<400).contains(response.status) else { return nil }
        let target = response.headers["Location"].flatMap { URL(reference: $0, relativeTo: request.url) }
        let place = target.flatMap(Origin.init).map { ", and not of a place at \($0)" } ?? ""
        return .refuse(.redirectRefused, reason: "the call takes the response of its own URL\(place)")
    }

    /// The method of the next request, as browsers choose it and RFC 9110 §15.4 allows.
    private static func method(after status: Int, of method: HTTPMethod) -> HTTPMethod {
        switch status {
        case 303: method == .head ? .head : .get
        case 301, 302: method == .post ? .get : method
        default: method
        }
    }
}
