#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import OAuth2Flows

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// An authorization server and a resource server that check each proof (RFC 9449 §4.3), with refresh tokens that rotate
/// and whose second use ends the session. It shares no code with what makes the proofs, except Base64.
///
/// Its clock and that of the device stand still, so that no proof and no date is old because a machine is busy.
final class StrictDPoPServer: AuthorizationServer {
    struct Settings {
        /// How many of the last nonces are accepted; `nil`: it wants none.
        var acceptedNonces: Int? = 1
        /// Whether the refusal of a proof for another reason names the nonce.
        var namesNonceInFaults = true
        /// How far its clock is ahead.
        var clockOffset: TimeInterval = 0
        /// The error of the next whole refresh.
        var nextRefusal: String?
        /// How many calls of the token endpoint a gateway refuses first.
        var gatewayRefusals = 0
        /// How long a response is under way.
        var delay = Duration.zero
        /// The numbers, from 1, of the requests to a resource that fail before they reach the server, whose nonce
        /// changes meanwhile.
        var failing: Set<Int> = []
    }

    struct State {
        let clock = ManualTimeSource(date: Date())
        var settings = Settings()
        var nonce = 0
        var identifiers: Set<String> = []
        /// The thumbprint to which the tokens are bound.
        var thumbprint: String?
        var family = TokenFamily()
        /// What was wrong with proofs, in order.
        var faults: [String] = []
        /// The whole refreshes, with their idempotency keys, and the calls that had no refresh token.
        var refreshes: [String] = []
        var probes = 0
        var challenges = 0
        /// The requests to a resource, and those that it has answered.
        var attempts = 0
        var resources = 0
    }

    private let state = Locked(State())
    private let server: LoopbackServer

    init(_ change: (inout Settings) -> Void = { _ in }) throws {
        server = try LoopbackServer { [state] request in
            state.withLock { state in
                defer { state.clock.advance(by: state.settings.delay) }
                return state.respond(to: request)
            }
        }
        state.withLock { change(&$0.settings) }
    }

    deinit { stop() }

    var requests: [LoopbackServer.Request] { server.requests }
    var url: URL { server.url }
    var now: State { state.withLock { $0 } }
    /// The clock of the device. The server's is the same, but for its offset.
    var clock: ManualTimeSource { now.clock }
    func stop() { server.stop() }
    func prover(_ keys: any SigningKeyStore) -> DPoPProver { DPoPProver(keys: keys, clock: clock) }

    /// Binds the tokens to a key, as a sign-in does.
    func bind(to thumbprint: String) { state.withLock { $0.thumbprint = thumbprint } }
}

extension StrictDPoPServer.State {
    var refreshToken: String { "refresh-\(family.current)" }
    var accessToken: String { "access-\(family.current)" }

    private var date: Date { clock.date + settings.clockOffset }

    fileprivate mutating func respond(to request: LoopbackServer.Request) -> LoopbackServer.Action {
        let isTokenCall = request.path == "/token"
        if isTokenCall, settings.gatewayRefusals > 0 {
            settings.gatewayRefusals -= 1
            return .json(#"{"message":"Forbidden"}"#, status: 403)
        }
        var isNamed = settings.acceptedNonces != nil
        let action: LoopbackServer.Action
        do throws(Refusal) {
            action = try isTokenCall ? token(request) : resource(request)
        } catch {
            let isFault = error.code == "invalid_dpop_proof"
            if isTokenCall, request[form: "refresh_token"].isEmpty {
                probes += isFault ? 0 : 1
            } else if error.code == "use_dpop_nonce" {
                challenges += 1
            }
            if let fault = error.fault { faults.append(fault) }
            isNamed = isNamed && (!isFault || settings.namesNonceInFaults)
            action =
                isTokenCall
                ? .json(#"{"error":"\#(error.code)"}"#, status: 400)
                : .respond(401, headers: ["WWW-Authenticate": #"DPoP algs="ES256", error="\#(error.code)""#])
        }
        guard case .respond(let status, var headers, let body) = action else { return action }
        headers["Date"] = date.headerField
        if isNamed, status != 503 { headers["DPoP-Nonce"] = "nonce-\(nonce)" }
        return .respond(status, headers: headers, body: body)
    }

    private mutating func token(_ request: LoopbackServer.Request) throws(Refusal) -> LoopbackServer.Action {
        let found = try check(request)
        if request[form: "grant_type"] == ["authorization_code"] {
            thumbprint = found
        } else {
            guard let sent = request[form: "refresh_token"].first else { throw Refusal(code: "invalid_request") }
            refreshes.append(request["Idempotency-Key"] ?? "")
            if let code = settings.nextRefusal {
                settings.nextRefusal = nil
                throw Refusal(code: code)
            }
            let number = Int(sent.dropFirst("refresh-".count)) ?? -1
            guard found == thumbprint, family.use(number, key: nil, tolerating: .none) == .rotated else {
                family.revoke()
                throw Refusal(code: "invalid_grant")
            }
        }
        return .json(
            #"{"access_token":"\#(accessToken)","token_type":"DPoP","expires_in":600,"refresh_token":"\#(refreshToken)"}"#
        )
    }

    private mutating func resource(_ request: LoopbackServer.Request) throws(Refusal) -> LoopbackServer.Action {
        attempts += 1
        if settings.failing.contains(attempts) {
            nonce += 1
            return .respond(503)
        }
        guard let authorization = request["Authorization"], authorization.hasPrefix("DPoP ") else {
            throw Refusal(code: "invalid_token", fault: "no DPoP token")
        }
        let token = String(authorization.dropFirst(5))
        guard try check(request, token: token) == thumbprint, token == accessToken, !family.isRevoked else {
            throw Refusal(code: "invalid_token")
        }
        resources += 1
        return .json(#"{"value":1}"#)
    }

    /// Checks the proof of a request.
    ///
    /// - Returns: The thumbprint of its key.
    private mutating func check(_ request: LoopbackServer.Request, token: String? = nil) throws(Refusal) -> String {
        let proofs = request.values(of: "DPoP")
        guard proofs.count == 1 else { throw "\(proofs.count) proofs" }
        let proof = try ReceivedProof(proofs[0])
        let url = "http://\(request["Host"] ?? "")\(request.target.prefix { $0 != "?" })"
        guard proof.claims["htm"] as? String == request.method else { throw "htm" }
        guard proof.claims["htu"] as? String == url else { throw "htu" }
        guard let issued = proof.claims["iat"] as? Int, abs(date.timeIntervalSince1970 - Double(issued)) < 30 else {
            throw "iat"
        }
        let digest = token.map { Data(SHA256.hash(data: Data($0.utf8))).base64URL }
        guard proof.claims["ath"] as? String == digest else { throw "ath" }
        guard let identifier = proof.claims["jti"] as? String, identifiers.insert(identifier).inserted else {
            throw "jti"
        }
        guard let accepted = settings.acceptedNonces else { return proof.thumbprint }
        let known = (0..<accepted).map { "nonce-\(nonce - $0)" }
        guard let sent = proof.claims["nonce"] as? String, known.contains(sent) else {
            throw Refusal(code: "use_dpop_nonce")
        }
        nonce += 1
        return proof.thumbprint
    }
}

/// The error of a response, and what is wrong with the proof.
private struct Refusal: Error, ExpressibleByStringInterpolation {
    let code: String
    var fault: String?

    init(code: String, fault: String? = nil) { (self.code, self.fault) = (code, fault) }
    init(stringLiteral fault: String) { self.init(code: "invalid_dpop_proof", fault: fault) }
}

/// A proof whose signature is the one of its key.
private struct ReceivedProof {
    let claims: [String: Any]
    let thumbprint: String

    init(_ text: String) throws(Refusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Data(base64URL: parts[2])
        else { throw "no JWS" }
        guard header["typ"] as? String == "dpop+jwt", header["alg"] as? String == "ES256",
            let key = header["jwk"] as? [String: String], Set(key.keys) == ["kty", "crv", "x", "y"],
            let x = key["x"], let y = key["y"], let first = Data(base64URL: x), let second = Data(base64URL: y),
            let publicKey = try? P256.Signing.PublicKey(rawRepresentation: first + second)
        else { throw "header" }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { throw "signature" }
        self.claims = claims
        let canonical = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        thumbprint = Data(SHA256.hash(data: Data(canonical.utf8))).base64URL
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        Data(base64URL: part).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
    }
}
#endif
