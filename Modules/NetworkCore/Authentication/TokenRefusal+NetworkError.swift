import AuthInterface
import Foundation

extension TokenRefusal {
    /// Creates a refusal from the failure of a request.
    ///
    /// - Parameters:
    ///   - token: The token that the request carried.
    ///   - failure: The failure of the request.
    ///   - policy: The codes that mean that the token itself is invalid.
    init(of token: SessionToken, in failure: NetworkError, policy: AuthenticationPolicy) {
        let secrets = [token.value, token.refreshToken]
        let code = failure.envelope?.code
        let isListed = code.map { code in policy.invalidTokenCodes.contains { $0.equalsIgnoringASCIICase(code) } }
        self.init(
            of: token,
            endpoint: failure.request.flatMap { $0.endpoint?.withoutQuoting(secrets) },
            saysTokenIsInvalid: isListed == true || failure.response?.saysBearerTokenIsInvalid == true,
            status: failure.status,
            serverCode: code?.asIdentifier(withoutQuoting: secrets),
            requestID: failure.requestID?.asIdentifier(withoutQuoting: secrets)
        )
    }
}

extension RequestSummary {
    /// Method, origin and path, without the query: `GET https://api.example.com/articles/7`.
    fileprivate var endpoint: String? {
        guard let url = URL(string: url), let origin = Origin(url) else { return nil }
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return "\(method) \(origin)\(path)"
    }
}
