import AuthInterface

/// The rules every ``TokenRefreshHandler`` must keep, as a suite to run against yours.
///
/// ```swift
/// @Test func honoursTheContract() async throws {
///     try await TokenRefreshHandlerContract.check { PartnerBackend() }
/// }
/// ```
/// What a handler makes of a refusal shows only when it is refused. So the suite is given the backend, which brings each
/// answer about (see ``RefreshBackend``). Rules whose answer it cannot bring about are left out. The rule on idempotency
/// keys needs a ``KeyRecordingRefreshBackend``. What `replayTolerance` declares is checked against the backend.
public enum TokenRefreshHandlerContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { TokenRefreshHandlerRules.all.map(\.name) }

    /// Runs every rule against a fresh backend each.
    ///
    /// - Parameters:
    ///   - patience: How long one rule may take. A rule that takes longer is broken: most often, the handler ignores
    ///     cancellation, or waits for the response on a connection that the server has closed.
    ///   - makeBackend: Makes a backend that answers with tokens.
    /// - Throws: ``ContractViolation`` with every broken rule; what `makeBackend` throws.
    public static func check<Backend: RefreshBackend>(
        patience: Duration = .seconds(10),
        makeBackend: () async throws -> Backend
    ) async throws {
        try await ContractViolation.check(
            "TokenRefreshHandlerContract",
            rules: TokenRefreshHandlerRules.all,
            patience: patience
        ) {
            (try await makeBackend() as any RefreshBackend, Backend.Handler.self)
        }
    }
}
