#if canImport(AuthenticationServices) && canImport(CryptoKit) && !os(tvOS) && !os(watchOS)
public import AuthenticationServices
public import Foundation

/// The system's sign-in sheet: `ASWebAuthenticationSession`.
@MainActor
public final class WebAuthenticationUserAgent: NSObject, OAuth2UserAgent {
    private let redirectURI: URL
    private let isEphemeral: Bool
    private let anchor: ASPresentationAnchor

    /// Creates a user agent.
    ///
    /// - Parameters:
    ///   - redirectURI: The redirect URI, with a scheme that belongs to the app, such as `com.example.app:/callback`.
    ///   - anchor: The window over which the sheet is shown.
    ///   - isEphemeral: Whether the sheet shares no cookies with the browser.
    public init(redirectURI: URL, anchor: ASPresentationAnchor, isEphemeral: Bool = false) {
        self.redirectURI = redirectURI
        self.anchor = anchor
        self.isEphemeral = isEphemeral
    }

    /// Shows a page, and waits for the redirect that is its response.
    ///
    /// - Parameter page: The page.
    /// - Returns: The URL of the redirect, and the redirect URI.
    /// - Throws: ``OAuth2SignInError`` with code `denied` when the user closes the sheet, or `userAgentFailed`.
    public func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        try Task.checkCancellation()
        return (try await redirect(from: page, shownIn: Shown()), redirectURI)
    }

    private func redirect(from page: OAuth2SignInPage, shownIn shown: Shown) async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { show(page, in: shown, $0) }
        } onCancel: {
            Task { @MainActor in shown.session?.cancel() }
        }
    }

    private func show(
        _ page: OAuth2SignInPage, in shown: Shown, _ continuation: CheckedContinuation<URL, any Error>
    ) {
        let session = ASWebAuthenticationSession(
            url: page.url(redirectingTo: redirectURI),
            callbackURLScheme: redirectURI.scheme
        ) { url, error in
            continuation.resume(with: Self.result(url, error))
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        shown.session = session
        if !session.start() { session.cancel() }
    }

    @MainActor
    private final class Shown {
        var session: ASWebAuthenticationSession?
    }

    nonisolated private static func result(_ url: URL?, _ error: (any Error)?) -> Result<URL, any Error> {
        if let url { return .success(url) }
        let isClosed = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
        let reason = isClosed ? "the user closed the sign-in page" : "the sign-in page cannot be shown"
        return .failure(OAuth2SignInError(isClosed ? .denied : .userAgentFailed, reason: reason, cause: error))
    }
}

extension WebAuthenticationUserAgent: ASWebAuthenticationPresentationContextProviding {
    /// The window over which the sheet is shown.
    ///
    /// - Parameter session: The session that asks.
    /// - Returns: The window.
    public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
}
#endif
