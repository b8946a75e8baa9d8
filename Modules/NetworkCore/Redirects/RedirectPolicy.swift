import Foundation

/// Decides where a redirect may lead and what goes along. Pure, so that every transport and platform does the same.
///
/// The platforms do not agree: one takes `Authorization` off at another host, another copies every field there; one
/// drops a body it should keep. Here a redirect to another origin carries only fields that are the same for every
/// server, and never a body: bodies hold refresh tokens (G15).
struct RedirectPolicy: Sendable {
    /// What to do with an answer.
    enum Decision: Equatable {
        /// It is no redirect, or one that leads nowhere: it is the answer.
        case none

        /// Send this next.
        case follow(Hop)

        /// Do not go there.
        case refuse(NetworkError.Code, reason: String)
    }

    /// Where a request goes next.
    struct Hop: Equatable {
        var request: HTTPRequestHead
        var keepsBody: Bool
        var leavesOrigin: Bool
    }

    /// The fields that may go to any origin, in lower case: they say what kind of client asks, and nothing of who.
    static let fieldsForAnyOrigin: Set = ["accept", "accept-language", "accept-encoding", "user-agent"]

    /// The fields that describe a body, in lower case. They go when the body goes (RFC 9110 §15.4).
    private static let bodyFields: Set = [
        "content-type", "content-length", "content-encoding", "content-language", "content-location", "digest",
        "content-digest", "transfer-encoding", "last-modified",
    ]

    let cleartextExceptions: Set<Origin>

    /// Decides about an answer.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - request: What was asked.
    ///   - hasBody: Whether it had a body.
    ///   - isReplayable: Whether that can be sent again.
    /// - Returns: What to do.
    func decision(
        for response: HTTPResponseHead,
        to request: HTTPRequestHead,
        hasBody: Bool,
        isReplayable: Bool
    ) -> Decision {
        guard [301, 302, 303, 307, 308].contains(response.status),
            let location = response.headers["Location"], let origin = Origin(request.url)
        else { return .none }
        guard let target = URL(string: location, relativeTo: request.url)?.absoluteURL,
            let targetOrigin = Origin(target)
        else {
            return .refuse(.redirectRefused, reason: "it leads to no http or https address")
        }
        guard target.user == nil, target.password == nil else {
            return .refuse(.redirectRefused, reason: "its address holds user information")
        }
        guard targetOrigin.mayBeSpokenTo(exceptions: cleartextExceptions) else {
            return .refuse(.redirectRefused, reason: "it leads to plain http")
        }
        let method = Self.method(after: response.status, of: request.method)
        let keepsBody = hasBody && method == request.method
        let leavesOrigin = targetOrigin != origin
        if keepsBody, leavesOrigin {
            return .refuse(.redirectRefused, reason: "it would take the body to another origin, \(targetOrigin)")
        }
        if keepsBody, !isReplayable {
            return .refuse(.bodyNotReplayable, reason: "it asks for the body again, a one-shot stream")
        }
        var next = request
        next.url = target
        next.method = method
        next.headers.removeAll { field in
            let name = field.name.lowercased()
            let stays = leavesOrigin ? Self.fieldsForAnyOrigin.contains(name) : true
            return !stays || (!keepsBody && Self.bodyFields.contains(name))
        }
        return .follow(Hop(request: next, keepsBody: keepsBody, leavesOrigin: leavesOrigin))
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
