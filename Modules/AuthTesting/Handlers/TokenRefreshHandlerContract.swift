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

    /// Checks a handler over HTTP, as ``check(timeLimit:makeBackend:)`` does. Each rule has a new handler and a new
    /// server, which takes every path below its URL, such as `http://127.0.0.1:49152`, and tolerates what the handler's
    /// `replayTolerance` declares.
    ///
    /// - Throws: `ContractViolation` with every broken rule; `POSIXError` when no port is available; the errors of
    ///   `makeHandler`.
    public static func check<Handler: TokenRefreshHandler>(
        _ dialect: RefreshDialect = .rest, timeLimit: Duration = .seconds(60), makeHandler: (URL) throws -> Handler
    ) async throws {
        try await check(timeLimit: timeLimit) { try LoopbackRefreshBackend(dialect, makeHandler: makeHandler) }
    }

    /// Checks a handler with its backend, a new one for each rule. Rules are left out if the backend cannot make their
    /// response; those on idempotency keys need a ``KeyRecordingRefreshBackend``. The `replayTolerance` of the handler
    /// is checked against the backend. A rule that takes longer than the limit is broken: most often, the handler
    /// ignores cancellation, or waits for the response on a connection that the server has closed.
    ///
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeBackend`.
    public static func check<Backend: RefreshBackend>(
        timeLimit: Duration = .seconds(10), makeBackend: () async throws -> Backend
    ) async throws {
        try await ContractViolation.check(
            "TokenRefreshHandlerContract", rules: TokenRefreshHandlerRules.all, timeLimit: timeLimit
        ) {
            (try await makeBackend() as any RefreshBackend, Backend.Handler.self)
        }
    }
}
