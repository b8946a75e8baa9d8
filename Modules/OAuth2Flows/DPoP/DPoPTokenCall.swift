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

    /// What the tokens of the session are bound to, with the nonces as they are now.
    var binding: TokenBinding { prover.binding(thumbprint) }

    /// The time in the next proof.
    func time(at endpoint: URL) -> SignedTime { prover.time(at: endpoint, thumbprint) }

    /// The proof of one call.
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
    func keep() async throws { try await prover.keepKey(thumbprint) }

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
