public import AuthInterface

extension Endpoint {
    /// The same call as one that asks for tokens or ends them: a sign-in, a refresh, a revocation. It carries no token
    /// of a session, and only the response of this endpoint to it counts: no redirect is followed (G15). What it spends
    /// is spent once: no interceptor has it sent again (G8). It asks for no coding (`identity`).
    public func asTokenCall() -> Self {
        withoutAuthentication().withoutRetries().redirects(.refuse).header("Accept-Encoding", "identity")
    }

    /// The same call as a refresh of tokens: ``asTokenCall()`` with connections of its own, so that it does not wait
    /// for the requests that wait for it, and with an idle timeout of 120 seconds, the default call limit of the
    /// refresh engine: a late response still holds the only valid refresh token (G8). The transport writes no byte of
    /// the call after the instant at which another process may count it as not made: it fails with `notStarted` (G28).
    /// No recording shows the tokens and the key of the request, under any name (G17).
    public func allowingLateResponse(to request: TokenRefreshRequest) -> Self {
        var call = allowingLateResponse().hiding([request.refreshToken, request.accessToken, request.idempotencyKey])
        call.settings.startPermit = request.startPermit
        return call
    }

    /// The same call, of which nothing shows some values, under any name (G17).
    package func hiding(_ secrets: [String]) -> Self {
        var call = self
        call.settings.secrets.values += secrets
        return call
    }

    /// The same call as one of a refresh that spends no token, so that it may start at any time.
    package func allowingLateResponse() -> Self {
        var call = asTokenCall().timeout(.seconds(120))
        call.settings.purpose = .refresh
        return call
    }

    /// The same call with the idempotency key of a refresh in a header field.
    ///
    /// Only the refresh engine repeats such a call. ``CallSettings/idempotencyKey`` would say that it may be sent
    /// again. A key without a field, or that no header field can carry, is left out.
    public func idempotencyKey(_ key: String, in field: String?) -> Self {
        guard let field, key.fitsHeaderField else { return self }
        return header(field, key)
    }
}
