import AuthInterface
import ContractTesting

// Handlers that lose a session when a response is lost.
extension RefreshHandlerMutant {
    private static let noStatus = "G12: an error without a response has no status"
    private static let key = "G12: a request sends its own key, the same each time"
    private static let sameKey = "G12: with replayTolerance .sameKey, the same request returns the same tokens again"
    private static let within = "G12: with replayTolerance .within, the same refresh token returns tokens again"

    private static let once = "G12: a call whose response is lost ends soon, and is sent once"

    static let replays = [
        Self(once, by: "a retry of its own") {
            do {
                return try await $0.refreshProperly($1)
            } catch is TokenEndpoint.ConnectionLost {
                return try await $0.refreshProperly($1)
            }
        },
        Self(once, by: "waiting for a response on an old connection") {
            do {
                return try await $0.refreshProperly($1)
            } catch is TokenEndpoint.ConnectionLost where $0.receivedKeys.count == 2 {
                try await Gate().passUnlessCancelled()
                throw TokenEndpoint.ConnectionLost()
            }
        },
        Self(noStatus, by: "reporting a cut connection as 503") {
            do {
                return try await $0.refreshProperly($1)
            } catch is TokenEndpoint.ConnectionLost {
                throw TokenRefreshError(.unavailable, status: 503)
            }
        },
        Self(key, by: "a new key for each call", tolerating: .sameKey, over: .sameKey) { endpoint, request in
            try await endpoint.refreshProperly(request.with(key: "\(endpoint.receivedKeys.count)"))
        },
        Self(key, by: "one key for all calls") { try await $0.refreshProperly($1.with(key: "key")) },
        Self(key, by: "declaring .sameKey without a key", tolerating: .sameKey, over: .within(.seconds(10))) {
            try await $0.refreshProperly($1.with(key: ""))
        },
        Self(sameKey, by: "declaring a tolerance the server does not have", tolerating: .sameKey),
        Self(sameKey, by: "not sending the key", tolerating: .sameKey, over: .sameKey) {
            try await $0.refreshProperly($1.with(key: ""))
        },
        Self(sameKey, by: "inventing an access token", tolerating: .sameKey, over: .sameKey) {
            var result = try await $0.refreshProperly($1)
            result.accessToken += "-\($0.receivedKeys.count)"
            return result
        },
        Self(within, by: "declaring a tolerance the server does not have", tolerating: .within(.seconds(10))),
        Self(within, by: "declaring a time of zero", tolerating: .within(.zero), over: .within(.seconds(10))),
    ]
}

extension TokenRefreshRequest {
    fileprivate func with(key: String) -> Self {
        Self(refreshToken: refreshToken, accessToken: accessToken, session: session, idempotencyKey: key)
    }
}
