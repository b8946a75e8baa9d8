#if canImport(CryptoKit) || Crypto
import ConcurrencyPrimitives
public import Foundation

/// A browser, and a server on loopback that receives the redirect (RFC 8252 §7.3).
///
/// The server listens on 127.0.0.1, on a port that the system chooses, until the response has arrived. It ignores every
/// request that is not the response to the page.
public struct LoopbackUserAgent: OAuth2UserAgent {
    private let path: String
    private let timeout: Duration
    private let open: @Sendable (URL) async throws -> Void

    /// Creates a user agent. The path is that of the redirect URI as it is registered at the server, which must accept
    /// any port. The user has 10 minutes by default. `open` opens the sign-in page in a browser, and may wait for the
    /// browser: the response, the end of the time and a cancellation do not wait for it, and cancel it.
    public init(
        path: String = "/callback",
        timeout: Duration = .seconds(10 * 60),
        open: @escaping @Sendable (URL) async throws -> Void
    ) {
        self.path = path
        self.timeout = timeout
        self.open = open
    }

    /// Opens a page, and waits for the redirect that is its response.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `userAgentFailed` when there is no free port, or `expired`; the errors
    ///   of opening the page; `CancellationError`.
    public func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let listener = try LoopbackListener()
        guard let redirectURI = URL(string: "http://127.0.0.1:\(listener.port)\(path)") else {
            throw OAuth2SignInError(.userAgentFailed, reason: "the path of the redirect URI is invalid")
        }
        let response = Race<Result<URL, any Error>>()
        let tasks = [
            Task {
                try await open(try await page.url(redirectingTo: redirectURI))
            },
            Task {
                let url = try await listener.firstRequest(within: timeout) { target in
                    URL(string: "http://127.0.0.1:\(listener.port)\(target)").flatMap {
                        OAuth2SignInPage.isSame($0, redirectURI) && page.isResponse($0) ? $0 : nil
                    }
                }
                response.end(.success(url))
            },
        ]
        for task in tasks {
            Task { if case .failure(let error) = await task.result { response.end(.failure(error)) } }
        }
        defer { tasks.forEach { $0.cancel() } }
        let url = try await withTaskCancellationHandler {
            await response.value()
        } onCancel: {
            response.end(.failure(CancellationError()))
        }.get()
        return (url, redirectURI)
    }
}
#endif
