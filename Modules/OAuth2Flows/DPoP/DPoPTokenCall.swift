import AuthInterface
import Foundation
import NetworkCore

/// Calls of one session to the endpoints of its authorization server, each with a proof (RFC 9449 §5).
struct DPoPTokenCall: Sendable {
    let prover: DPoPProver
    let key: any SigningKey
    let thumbprint: String

    init(_ prover: DPoPProver, _ key: any SigningKey) {
        self.prover = prover
        self.key = key
        thumbprint = key.publicKey.thumbprint
    }

    /// Finds the key to which tokens are bound. `nil`: they are bound to none.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `unavailable` without a prover, which is set in `owner`, and when the
    ///   key cannot be read now; `SigningKeyError` when it no longer exists.
    static func key(
        of binding: TokenBinding?, _ prover: DPoPProver?, setIn owner: String
    ) async throws -> DPoPTokenCall? {
        guard let binding else { return nil }
        guard let prover else {
            // Without a proof the server refuses the tokens, and may take them for stolen.
            throw OAuth2SignInError(
                .unavailable, reason: "the tokens are bound to a key; set the prover of the \(owner)")
        }
        do {
            return DPoPTokenCall(prover, try await prover.key(of: binding))
        } catch let error as TokenStoreError {
            throw OAuth2SignInError(
                .unavailable, reason: "the key of the session cannot be read now: \(error)", cause: error)
        }
    }

    /// What the tokens of the session are bound to, with the nonces as they are now.
    var binding: TokenBinding { prover.binding(thumbprint) }

    func time(at endpoint: URL) -> SignedTime { prover.time(at: endpoint, thumbprint) }

    func proof(at endpoint: URL, hasNonce: Bool = true) async throws -> String {
        try await prover.proof(
            of: key, thumbprint, method: "POST", url: endpoint, as: .authorizationServer, hasNonce: hasNonce)
    }

    /// Notes a response. Without the uptime at which its call was sent, its date counts however slow it was.
    func note(_ head: HTTPResponseHead, from endpoint: URL, sentAt sent: Duration?) {
        prover.note(
            head.headers["DPoP-Nonce"], serverDate: head.serverDate, from: endpoint, as: .authorizationServer,
            thumbprint, sentAt: sent)
    }

    /// Keeps the key of a sign-in: its code has come, and is not exchanged yet.
    func keep() async throws { try await prover.keepKey(key, thumbprint) }

    /// Makes the key of a sign-in, which is in memory until it is kept, at the latest with the tokens. Without tokens
    /// it is deleted again.
    ///
    /// - Throws: What `body` throws; ``OAuth2SignInError`` with code `unavailable` when the key cannot be kept.
    static func withNewKey<Value: Sendable>(
        of prover: DPoPProver?, _ body: (DPoPTokenCall?) async throws -> Value
    ) async throws -> Value {
        guard let prover else { return try await body(nil) }
        do {
            let call = DPoPTokenCall(prover, try await prover.makeKey())
            do {
                let value = try await body(call)
                try await call.keep()
                return value
            } catch {
                try? await prover.deleteKey(call.thumbprint)
                throw error
            }
        } catch let error as TokenStoreError {
            throw OAuth2SignInError(
                .unavailable, reason: "no key can be made, used or kept for the session: \(error)", cause: error)
        }
    }
}
