import Foundation
import NetworkCore

/// The calls of a client to the endpoints of its authorization server, and what repeats one.
extension OAuth2Client {
    /// Makes a call, a POST, with a proof of a key where there is one. A server that refuses a proof or an assertion
    /// has spent nothing, and the same call is made once more for each reason: with the nonce that the server wants
    /// (RFC 9449 §8), and with the date of the refusal where it is not the time that was signed (G19). `willRepeat` is
    /// called before, with the server's code, and throws if the call may not be repeated any more.
    ///
    /// - Throws: What `send`, `willRepeat` and the keys throw.
    func perform<Value: Sendable>(
        at endpoint: URL, with key: DPoPTokenCall?, hasNonce: Bool = true,
        willRepeat: (_ code: String) throws -> Void = { _ in },
        _ send: (_ proof: String?) async throws -> (Value, HTTPResponseHead)
    ) async throws -> Value {
        var answered: Set<String> = []
        // The skew that is stored with a session that is bound to a key.
        if let key, key.prover.knowsClock(of: endpoint, key.thumbprint) { assertion?.suppose(key.time(at: endpoint)) }
        while true {
            let proofTime = key?.time(at: endpoint)
            let times = ["invalid_dpop_proof": proofTime, "invalid_client": signedTime]
            do {
                let (value, head) = try await send(try await key?.proof(at: endpoint, hasNonce: hasNonce))
                key?.note(head, from: endpoint, sentAt: proofTime?.uptime)
                return value
            } catch let error as NetworkError {
                let code = error.codeOfRefusedSignature
                let isNewTime = code.flatMap { times[$0] ?? nil }?.differs(from: error) ?? false
                note(error, isNewTime: isNewTime)
                // What a gateway refuses says nothing of nonces.
                if let head = error.response, (head.headers["DPoP-Nonce"] ?? error.codeOfTokenEndpoint) != nil {
                    key?.note(head, from: endpoint, sentAt: isNewTime ? nil : proofTime?.uptime)
                }
                guard let code, code == "use_dpop_nonce" || isNewTime, answered.insert(code).inserted else {
                    throw error
                }
                try willRepeat(code)
            }
        }
    }

    /// Sends a form, whose call is made anew for a repetition.
    func send<Value: Sendable>(
        _ parameters: QueryItems, to endpoint: URL, namesClient: Bool = false, with key: DPoPTokenCall? = nil,
        over network: any UnauthenticatedNetworkService, make: (RequestBody) -> Endpoint<Value>
    ) async throws -> Value {
        try await perform(at: endpoint, with: key) { proof in
            var call = try await self.call(parameters, namesClient: namesClient, make: make)
            if let proof { call = call.header("DPoP", proof) }
            return try await network.send(call.map { ($0, $1) })
        }
    }
}

extension NetworkError {
    /// Why an endpoint has refused what was signed for a call, which it has not made: the proof of a key is invalid, or
    /// lacks a nonce that the response names (RFC 9449 §5, §8), or the client's assertion is (RFC 7523 §3.2).
    fileprivate var codeOfRefusedSignature: String? {
        guard isRefusalOfTheCall, let head = response, [400, 401].contains(head.status) else { return nil }
        let code = codeOfTokenEndpoint
        return switch code {
        case "use_dpop_nonce": head.headers["DPoP-Nonce"].flatMap { _ in code }
        case "invalid_dpop_proof", "invalid_client": code
        default: nil
        }
    }

    /// The error of RFC 6749 §5.2 in the response.
    var codeOfTokenEndpoint: String? { ErrorBody(of: self)?.text(at: "error") }
}
