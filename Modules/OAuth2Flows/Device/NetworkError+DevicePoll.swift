import NetworkCore

/// What a failed poll of a device sign-in means, at servers with words of their own, too.
extension NetworkError {
    /// The codes of RFC 8628 §3.5 for messages of a server without `error`, such as Twitch's. Any other message may be
    /// that of a gateway.
    private static let codesOfMessages = [
        "authorization_pending": "authorization_pending", "slow_down": "slow_down", "access_denied": "access_denied",
        "expired_token": "expired_token", "invalid device code": "expired_token",
    ]

    /// The codes for statuses without a body, as Trakt has them: pending, unknown, used, expired, denied.
    private static let codesOfStatuses = [
        400: "authorization_pending", 404: "expired_token", 409: "expired_token", 410: "expired_token",
        418: "access_denied",
    ]

    /// Whether a response without a body says that the user has not decided yet.
    var isBarePending: Bool { bareStatus == 400 }

    private var bareStatus: Int? {
        isRefusalOfTheCall && ErrorBody(of: self) == nil && body == nil ? statusOfWholeResponse : nil
    }

    /// The server's code, or the code of RFC 8628 §3.5 that it means. `nil`: the response may come from between. An
    /// empty 404 is also that of a gateway without a route, so it counts only after a bare *pending* of the server.
    func codeOfPoll(afterBarePending: Bool) -> String? {
        if let status = bareStatus {
            return status == 404 && !afterBarePending ? nil : Self.codesOfStatuses[status]
        }
        guard !isPage, let body = ErrorBody(of: self) else { return nil }
        return body.text(at: "error") ?? body.text(at: "message").flatMap { Self.codesOfMessages[$0.lowercased()] }
    }
}
