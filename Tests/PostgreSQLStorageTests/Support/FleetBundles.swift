#if PostgreSQL
import AuthInterface
import Foundation

extension TokenBundle {
    /// A bundle whose tokens contain its generation.
    static func fleet(_ generation: Int, session: String = "fleet-session", tokens: String = "ada1") -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(tokens)-\(generation)",
            refreshToken: "refresh-\(tokens)-\(generation)",
            session: SessionID(rawValue: session),
            generation: generation
        )
    }
}

/// The error that a call throws, if it is an error of a store.
func storeFailure(of call: () async throws -> Void) async -> TokenStoreError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? TokenStoreError
    }
}
#endif
