/// A backend that records the idempotency keys of the refresh calls. Without it, the rules on keys are left out.
public protocol KeyRecordingRefreshBackend: RefreshBackend {
    /// The idempotency keys of the refresh calls so far, in order.
    ///
    /// - Returns: The keys; `nil` for a call without one.
    /// - Throws: Any error; the rule on keys is then broken.
    func receivedKeys() async throws -> [String?]
}
