public import struct Foundation.Date

/// The seam between HTTP and the refresh engine: a token for this request, and a better one than the one refused.
///
/// An HTTP client of any make needs only these two calls to be authenticated:
///
/// ```swift
/// let token = try await provider.token()
/// // … send; when the server refuses it:
/// let fresh = try await provider.replacement(for: token)
/// ```
public protocol TokenProvider: Sendable {
    /// The token for a request that starts now, refreshed first when it must be.
    ///
    /// With a valid token this neither suspends nor waits for anyone (G18).
    ///
    /// - Returns: A token that is not known to be expired.
    /// - Throws: ``AuthenticationError``; `CancellationError` at once when the task is cancelled, which disturbs
    ///   neither a refresh under way nor anybody else who waits for it (G7).
    func token() async throws -> SessionToken

    /// A token to try instead of one the server has refused.
    ///
    /// If the current token is already another than the refused one, it is returned and nothing is refreshed (G2).
    ///
    /// - Parameter refused: The token the request carried.
    /// - Returns: A token of the same session, other than the refused one.
    /// - Throws: ``AuthenticationError``: `sessionEnded` when the refused token's session is over, so that a request
    ///   is never sent again as somebody else (G23); `unauthorized` when the refused token is itself fresh from a
    ///   refresh (G10). `CancellationError` as for ``token()``.
    func replacement(for refused: SessionToken) async throws -> SessionToken

    /// Tells the engine the time on the server's clock, as an answer's `Date` field gave it.
    ///
    /// It is used to read the stored expiry of a restored session on a device whose clock is wrong (G19). The default
    /// does nothing, which is right for a provider that counts no expiry.
    ///
    /// - Parameter date: The instant of the answer on the server's clock.
    func noteServerDate(_ date: Date)
}

extension TokenProvider {
    /// Ignores the server's clock.
    ///
    /// - Parameter date: The instant of the answer on the server's clock.
    public func noteServerDate(_ date: Date) {}
}
