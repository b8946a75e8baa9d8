#if canImport(CryptoKit) || Crypto
import ConcurrencyPrimitives
public import Foundation

/// A browser, and a server on loopback that receives the redirect (RFC 8252 §7.3).
///
/// The server listens on 127.0.0.1, on a port that the system chooses unless others are named, until the response has
/// arrived. It ignores every request that is not the response to the page. An error without a `state`, which any
/// program can send, is shown on the page of the redirect and in the reason of the time-out, and the sign-in goes on.
public struct LoopbackUserAgent: OAuth2UserAgent {
    private let host: String
    private let ports: [UInt16]
    private let path: String
    private let timeout: Duration
    private let open: @Sendable (URL) async throws -> Void

    /// Creates a user agent. Host, port and path are those of the redirect URI as it is registered at the server.
    ///
    /// ```swift
    /// LoopbackUserAgent(host: "localhost", ports: [8400, 8401]) { url in open(url) }
    /// ```
    ///
    /// - Parameters:
    ///   - host: `127.0.0.1`, `[::1]` or `localhost`, for which the server listens on both addresses.
    ///   - ports: Are tried in order. None: the system chooses one, where the server accepts any (RFC 8252 §7.3).
    ///   - path: Starts with a slash, or is empty.
    ///   - timeout: How long the user has: 10 minutes by default.
    ///   - open: Opens the sign-in page in a browser, and may wait for the browser: the response, the end of the time
    ///     and a cancellation do not wait for it, and cancel it.
    public init(
        host: String = "127.0.0.1", ports: [UInt16] = [], path: String = "/callback",
        timeout: Duration = .seconds(10 * 60), open: @escaping @Sendable (URL) async throws -> Void
    ) {
        self.host = host
        self.ports = ports
        self.path = path
        self.timeout = timeout
        self.open = open
    }

    /// Opens a page, and waits for the redirect that is its response.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `userAgentFailed` when no port is free, naming the ports, or
    ///   `expired`; the errors of opening the page; `CancellationError`.
    public func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let listener = try LoopbackListener(host: host, ports: ports)
        let origin = "http://\(host):\(listener.port)"
        guard let redirectURI = URL(string: "\(origin)\(path)") else {
            throw OAuth2SignInError(.userAgentFailed, reason: "the path of the redirect URI is invalid")
        }
        let response = Race<Result<URL, any Error>>()
        let tasks = [
            Task { try await open(try await page.url(redirectingTo: redirectURI)) },
            Task {
                @Sendable func callback(_ target: String) -> URL? {
                    URL(string: "\(origin)\(target)").flatMap { OAuth2SignInPage.isSame($0, redirectURI) ? $0 : nil }
                }
                let url = try await listener.firstRequest(within: timeout) { target in
                    callback(target).flatMap(OAuth2SignInPage.refusalWithoutState)
                } accept: { target in
                    callback(target).flatMap { page.isResponse($0) ? $0 : nil }
                }
                response.end(.success(url))
            },
        ]
        for task in tasks {
            Task { if case .failure(let error) = await task.result { response.end(.failure(error)) } }
        }
        defer { tasks.forEach { $0.cancel() } }
        return (try await response.valueUnlessCancelled(), redirectURI)
    }
}
#endif
