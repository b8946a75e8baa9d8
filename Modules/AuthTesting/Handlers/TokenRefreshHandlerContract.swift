public import AuthInterface
import ContractTesting
public import Foundation

/// The rules that every `TokenRefreshHandler` must keep, as a suite to run against yours.
///
/// For a handler over HTTP it is one call. The suite starts a server on a loopback port that makes every response a
/// handler can get, and gives the handler its URL:
///
/// ```swift
/// @Test func `my handler keeps the contract`() async throws {
///     try await TokenRefreshHandlerContract.check(.oauth2) { url in PartnerRefresh(endpoint: url) }
/// }
/// ```
///
/// Another format is a ``RefreshDialect``. A handler that does not use HTTP, or that should run
/// against a sandbox, is checked with a ``RefreshBackend``.
public enum TokenRefreshHandlerContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { TokenRefreshHandlerRules.all.map(\.name) }

    /// Checks a handler over HTTP. Each rule has a new server and a new handler.
    ///
    /// The server tolerates what the handler's `replayTolerance` declares.
    ///
    /// - Parameters:
    ///   - dialect: How the server reads calls and writes responses.
    ///   - timeLimit: The longest time for one rule, as in ``check(timeLimit:makeBackend:)``.
    ///   - makeHandler: Makes the handler. The argument is the server's URL, such as `http://127.0.0.1:49152`; it takes
    ///     every path.
    /// - Throws: `ContractViolation` with every broken rule; `POSIXError` when no port is available; the errors of
    ///   `makeHandler`.
    public static func check<Handler: TokenRefreshHandler>(
        _ dialect: RefreshDialect = .rest,
        timeLimit: Duration = .seconds(60),
        makeHandler: (URL) throws -> Handler
    ) async throws {
        try await check(timeLimit: timeLimit) { try LoopbackRefreshBackend(dialect, makeHandler: makeHandler) }
    }

    /// Checks a handler with its backend. Each rule has a new backend.
    ///
    /// Rules are left out if the backend cannot make their response. The rules on idempotency keys need a
    /// ``KeyRecordingRefreshBackend``. The `replayTolerance` of the handler is checked against the backend.
    ///
    /// - Parameters:
    ///   - timeLimit: The longest time for one rule. A rule that takes longer is broken: most often, the handler
    ///     ignores cancellation, or waits for the response on a connection that the server has closed.
    ///   - makeBackend: Makes a backend that responds with tokens.
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeBackend`.
    public static func check<Backend: RefreshBackend>(
        timeLimit: Duration = .seconds(10),
        makeBackend: () async throws -> Backend
    ) async throws {
        try await ContractViolation.check(
            "TokenRefreshHandlerContract",
            rules: TokenRefreshHandlerRules.all,
            timeLimit: timeLimit
        ) {
            (try await makeBackend() as any RefreshBackend, Backend.Handler.self)
        }
    }
}
