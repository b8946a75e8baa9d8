import AuthInterface
import NetworkCore

extension TokenRefreshError {
    /// The server has refused the refresh token itself.
    init(rejected error: NetworkError) {
        self.init(.rejected, reason: error.description, cause: error)
    }

    /// Nobody has refused the refresh token: the session stays.
    ///
    /// - Parameters:
    ///   - error: Why the call failed. Its description holds no secret.
    ///   - hint: What to do about it, where that is known.
    init(unavailable error: NetworkError, hint: String? = nil) {
        let reason = hint.map { "\(error.description); \($0)" } ?? error.description
        self.init(.unavailable, reason: reason, retryAfter: error.retryAfter, cause: error)
    }
}
