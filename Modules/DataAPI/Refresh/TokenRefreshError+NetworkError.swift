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

extension NetworkError {
    /// The error without a secret of the call, should the server have quoted it: "no such token: …" (G17).
    ///
    /// - Parameter secret: The secret.
    /// - Returns: The error, with a placeholder in the secret's place.
    func withoutQuoting(_ secret: String) -> NetworkError {
        guard !secret.isEmpty, let envelope else { return self }
        func clean(_ text: String?) -> String? { text?.replacing(secret, with: "redacted") }
        return NetworkError(
            code,
            reason: reason,
            request: request,
            response: response,
            envelope: ErrorEnvelope(
                code: clean(envelope.code),
                message: clean(envelope.message),
                errors: envelope.errors.map { detail in
                    ErrorDetail(
                        field: clean(detail.field), code: clean(detail.code), message: clean(detail.message))
                },
                requestId: envelope.requestId
            ),
            retryAfter: retryAfter,
            attempt: attempt,
            maximumAttempts: maximumAttempts,
            elapsed: elapsed,
            cause: cause
        )
    }
}
