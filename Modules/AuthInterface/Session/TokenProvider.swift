public import struct Foundation.Date

/// The interface between an HTTP client and the refresh engine: a token for a request, and a replacement for a token
/// that the server refused.
///
/// An HTTP client needs these two calls to be authenticated:
///
/// ```swift
/// let token = try await provider.token()
/// // … send; when the server refuses it:
/// let fresh = try await provider.replacement(for: token)
/// ```
public protocol TokenProvider: Sendable {
    /// The token for a request that starts now. It is refreshed first if it has expired or is about to.
    ///
    /// With a valid token this neither suspends nor waits (G18).
    ///
    /// - Returns: A token that is not known to be expired.
    /// - Throws: ``AuthenticationError``; `CancellationError` at once when the task is cancelled, which affects
    ///   neither a refresh under way nor other tasks that wait for it (G7).
    func token() async throws -> SessionToken

    /// The token for a request that starts now, if it is at hand: the one that ``token()`` would return without
    /// waiting. `nil`: ask ``token()``.
    ///
    /// A client looks here first, so that a valid token costs no task. It must not block. The default is `nil`.
    var validToken: SessionToken? { get }

    /// A token to use in place of one that the server has refused.
    ///
    /// If the refused token is no longer the current one, the current one is returned without a refresh (G2).
    ///
    /// - Parameter refusal: The refused token, and the details of the response.
    /// - Returns: A token of the same session: another one, unless the server has issued the refused one again.
    /// - Throws: ``AuthenticationError``: `sessionEnded` when the refused token's session has ended, so that a
    ///   request is never sent again as another user (G23); `unauthorized` when the refused token comes from a refresh
    ///   that has just been made (G10). `CancellationError` as for ``token()``.
    func replacement(after refusal: TokenRefusal) async throws -> SessionToken

    /// Notifies the engine of the time on the server's clock, from the `Date` field of a response.
    ///
    /// It corrects the stored expiry of a restored session on a device whose clock is wrong (G19). The default does
    /// nothing, for providers that use no expiry.
    func noteServerDate(_ date: Date)
}

extension TokenProvider {
    /// A token to use in place of one that the server has refused, where the response has no details.
    ///
    /// - Throws: As ``replacement(after:)``.
    public func replacement(for refused: SessionToken) async throws -> SessionToken {
        try await replacement(after: .bare(refused))
    }

    /// The token is always asked for.
    public var validToken: SessionToken? { nil }

    /// Ignores the server's clock.
    public func noteServerDate(_ date: Date) {}
}

extension TokenRefusal {
    /// A refusal without details. It is not inlined, so that a caller keeps no parts of it while it waits.
    @inline(never)
    fileprivate static func bare(_ token: SessionToken) -> TokenRefusal { TokenRefusal(of: token) }
}
