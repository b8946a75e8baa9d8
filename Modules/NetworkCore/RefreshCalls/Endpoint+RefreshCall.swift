import AuthInterface

extension Endpoint {
    /// The same call as a refresh of tokens: with connections of its own, so that it does not wait for the requests that
    /// wait for it, and with an idle timeout of 120 seconds, the default call limit of the refresh engine.
    ///
    /// A response that arrives after the timeout of other requests still holds the only valid refresh token (G8).
    ///
    /// - Returns: The changed endpoint.
    public func allowingLateResponse() -> Self {
        var call = timeout(.seconds(120))
        call.purpose = .refresh
        return call
    }

    /// The same call with the idempotency key of a refresh in a header field.
    ///
    /// Only the refresh engine repeats such a call. ``idempotencyKey`` would allow retry policies to send it again.
    ///
    /// - Parameters:
    ///   - key: The key. A key that no header field can carry is left out.
    ///   - field: The name of the field; `nil` leaves the call as it is.
    /// - Returns: The changed endpoint.
    public func idempotencyKey(_ key: String, in field: String?) -> Self {
        guard let field, key.fitsHeaderField else { return self }
        return header(field, key)
    }
}
