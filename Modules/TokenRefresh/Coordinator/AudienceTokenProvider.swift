public import AuthInterface
import ConcurrencyPrimitives

public import struct Foundation.Date

/// The access tokens of a session for one audience (RFC 8707): see ``TokenRefreshCoordinator/tokens(for:)``.
public struct AudienceTokenProvider: TokenProvider {
    let engine: TokenRefreshCoordinator

    /// Where the tokens are used.
    public let audience: TokenAudience

    /// The token for a request that starts now.
    ///
    /// - Returns: A token of the audience that is not known to be expired.
    /// - Throws: As ``TokenRefreshCoordinator/token()``; `AuthenticationError` with code `audienceNotListed` where the
    ///   handler does not list the audience: no call is made.
    /// - Complexity: With a valid token O(1): one lock, no suspension, no allocation.
    public func token() async throws -> SessionToken {
        if let token = validToken { return token }
        return try await engine.response(to: .audienceToken(audience)).token
    }

    /// The token of the audience, if it is valid. While it must be refreshed, also in the background, it is asked for.
    ///
    /// - Complexity: O(1): one lock, no allocation.
    public var validToken: SessionToken? {
        let uptime = engine.clock.uptime
        return engine.core.withLock { $0.machine.readyToken(for: audience, at: uptime) }
    }

    /// A token of the audience in place of one that the server has refused.
    ///
    /// - Parameter refusal: The token that the request carried. One of another audience says nothing of this one's.
    /// - Returns: A token of the same session and this audience: another one, unless the server has issued the refused
    ///   one again.
    /// - Throws: As ``TokenRefreshCoordinator/replacement(after:)``, and as ``token()``.
    public func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        guard refusal.token.audience == audience else { return try await engine.token(for: audience, after: refusal) }
        return try await engine.response(to: .replacement(refusal)).token
    }

    /// See `TokenProvider.noteServerDate(_:)`.
    ///
    /// - Parameter date: The `Date` of a response, on the server's clock.
    public func noteServerDate(_ date: Date) { engine.noteServerDate(date) }
}

extension TokenRefreshCoordinator {
    /// The access tokens for an audience that the handler lists (`TokenRefreshHandler.audiences`).
    ///
    /// ```swift
    /// let files = NetworkClient(baseURL: fileServer).authenticated(by: session.tokens(for: .files))
    /// ```
    ///
    /// They come from the refresh token of the session, which is spent by one refresh at a time for all audiences.
    /// A client sends them to the origins of its own policy only (G15).
    ///
    /// - Parameter audience: Where the tokens are used.
    /// - Returns: The tokens. Each has its own expiry and windows.
    public func tokens(for audience: TokenAudience) -> AudienceTokenProvider {
        AudienceTokenProvider(engine: self, audience: audience)
    }

    /// A token for an audience after a request has carried that of another one, whose refusal says nothing of it.
    ///
    /// - Throws: `AuthenticationError` with code `sessionEnded` where it would be that of another session (G23).
    func token(for audience: TokenAudience?, after refusal: TokenRefusal) async throws -> SessionToken {
        let token = if let audience { try await tokens(for: audience).token() } else { try await self.token() }
        guard token.session == refusal.token.session else { throw AuthenticationError(.sessionEnded) }
        return token
    }
}
