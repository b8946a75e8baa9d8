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

    /// Makes a call, a POST. Where the server wants a nonce, it has spent nothing, and the call is repeated once with a
    /// new proof (RFC 9449 §8). So it is where the server refuses a proof with the time of this device, and only its
    /// response has shown its own; one call can be repeated for both. `willRepeat` is called before a repetition, with
    /// the server's code, and throws if the call may not be repeated any more.
    ///
    /// - Throws: What `send`, `willRepeat` and the key throw.
    func perform<Value: Sendable>(
        at endpoint: URL,
        willRepeat: (_ code: String) throws -> Void = { _ in },
        _ send: (_ proof: String) async throws -> (Value, HTTPResponseHead)
    ) async throws -> Value {
        var answered: Set<String> = []
        while true {
            let hadClock = prover.knowsClock(of: endpoint, thumbprint)
            do {
                return try await attempt(at: endpoint, send)
            } catch let error as NetworkError {
                let code = error.codeOfRefusedProof
                let isNewTime = code == "invalid_dpop_proof" && !hadClock && prover.knowsClock(of: endpoint, thumbprint)
                guard let code, code == "use_dpop_nonce" || isNewTime, answered.insert(code).inserted else {
                    throw error
                }
                try willRepeat(code)
            }
        }
    }

    private func attempt<Value: Sendable>(
        at endpoint: URL, _ send: (_ proof: String) async throws -> (Value, HTTPResponseHead)
    ) async throws -> Value {
        let proof = try await prover.proof(
            of: key, thumbprint, method: "POST", url: endpoint, as: .authorizationServer)
        let sent = prover.uptime
        do {
            let (value, head) = try await send(proof)
            note(head, from: endpoint, sentAt: sent)
            return value
        } catch let error as NetworkError {
            if let head = error.response { note(head, from: endpoint, sentAt: sent) }
            throw error
        }
    }

    /// Fetches a nonce, by a call that has nothing to spend and that the server refuses.
    ///
    /// - Throws: `NetworkError` when there is no response of the server: a call that spends a token would fail too.
    func fetchNonce(at endpoint: URL, _ send: (_ proof: String) async throws -> HTTPResponseHead?) async throws {
        // Without the old nonce: a server that wants nonces responds with a new one.
        let proof = try await prover.proof(
            of: key, thumbprint, method: "POST", url: endpoint, as: .authorizationServer, hasNonce: false)
        let sent = prover.uptime
        if let head = try await send(proof) { note(head, from: endpoint, sentAt: sent) }
    }

    private func note(_ head: HTTPResponseHead, from endpoint: URL, sentAt sent: Duration) {
        prover.note(
            head.headers["DPoP-Nonce"], serverDate: head.serverDate, from: endpoint, as: .authorizationServer,
            thumbprint, sentAt: sent)
    }
}

// The calls of a sign-in, with a proof where the session gets a key.
extension DPoPTokenCall {
    /// Makes the key of a sign-in, and deletes it again if no tokens are issued for it.
    ///
    /// - Throws: What `body` throws; ``OAuth2SignInError`` with code `unavailable` when the key cannot be kept.
    static func withNewKey<Value: Sendable>(
        of prover: DPoPProver?, _ body: (DPoPTokenCall?) async throws -> Value
    ) async throws -> Value {
        guard let prover else { return try await body(nil) }
        let call: DPoPTokenCall
        do {
            call = DPoPTokenCall(prover, try await prover.makeKey())
        } catch let error as TokenStoreError {
            throw OAuth2SignInError(.unavailable, reason: "no key can be kept for the session: \(error)", cause: error)
        }
        do {
            return try await body(call)
        } catch {
            try? await prover.deleteKey(call.thumbprint)
            throw error
        }
    }

    /// Sends a call of a sign-in. The call is made anew for a repetition.
    static func send<Value: Sendable>(
        _ call: DPoPTokenCall?, to endpoint: URL, over network: any UnauthenticatedNetworkService,
        _ make: () async throws -> Endpoint<Value>
    ) async throws -> Value {
        guard let call else { return try await network.send(try await make()) }
        return try await call.perform(at: endpoint) { proof in
            try await network.send(try await make().header("DPoP", proof).map { ($0, $1) })
        }
    }
}

extension NetworkError {
    /// Why a token endpoint has refused the proof of a call, which it has not made (RFC 9449 §5, §8): the proof is
    /// invalid, or lacks a nonce that the response names.
    fileprivate var codeOfRefusedProof: String? {
        guard isRefusalOfTheCall, let head = response, [400, 401].contains(head.status) else { return nil }
        switch ErrorBody(of: self)?.text(at: "error") {
        case "use_dpop_nonce" where head.headers["DPoP-Nonce"] != nil: return "use_dpop_nonce"
        case "invalid_dpop_proof": return "invalid_dpop_proof"
        default: return nil
        }
    }
}
