#if canImport(AuthenticationServices) && canImport(CryptoKit) && !os(tvOS) && !os(watchOS)
public import AuthenticationServices
public import Foundation

/// The system's sign-in sheet: `ASWebAuthenticationSession`.
@MainActor
public final class WebAuthenticationUserAgent: NSObject, OAuth2UserAgent {
    private let redirectURI: URL
    private let isEphemeral: Bool
    private let anchor: ASPresentationAnchor

    /// Creates a user agent whose sheet is shown over a window. The scheme of the redirect URI belongs to the app, as
    /// in `com.example.app:/callback`. An ephemeral sheet shares no cookies with the browser.
    public init(redirectURI: URL, anchor: ASPresentationAnchor, isEphemeral: Bool = false) {
        self.redirectURI = redirectURI
        self.anchor = anchor
        self.isEphemeral = isEphemeral
    }

    /// Shows a page, and waits for the redirect that is its response.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `denied` when the user closes the sheet, or `userAgentFailed`;
    ///   `CancellationError`.
    public func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        try Task.checkCancellation()
        let page = try await page.url(redirectingTo: redirectURI)
        return (try await redirect(from: page, in: Sheet()), redirectURI)
    }

    private func redirect(from page: URL, in sheet: Sheet) async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { show(page, in: sheet, $0) }
        } onCancel: {
            Task { @MainActor in sheet.cancel() }
        }
    }

    private func show(_ page: URL, in sheet: Sheet, _ continuation: CheckedContinuation<URL, any Error>) {
        // The system calls the handler on any queue. Without `@Sendable` it is isolated to the main actor, and traps.
        let session = ASWebAuthenticationSession(
            url: page, callbackURLScheme: redirectURI.scheme
        ) { @Sendable url, error in
            let result = Self.result(url, error)
            Task { @MainActor in sheet.end(result) }
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        sheet.start(session, continuation)
    }

    /// A sheet, and the sign-in that waits for it. The first end counts: the system does not call the handler of a
    /// session that is not started, and may or may not call that of one that is cancelled.
    @MainActor
    private final class Sheet {
        private var session: ASWebAuthenticationSession?
        private var continuation: CheckedContinuation<URL, any Error>?

        func start(_ session: ASWebAuthenticationSession, _ continuation: CheckedContinuation<URL, any Error>) {
            self.session = session
            self.continuation = continuation
            if !session.start() { end(WebAuthenticationUserAgent.result(nil, nil)) }
        }

        func cancel() {
            session?.cancel()
            end(.failure(CancellationError()))
        }

        func end(_ result: Result<URL, any Error>) {
            continuation?.resume(with: result)
            (session, continuation) = (nil, nil)
        }
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
    public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
}
#endif
