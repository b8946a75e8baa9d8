#if canImport(CryptoKit) || Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// An authorization server and a resource server that check each proof (RFC 9449 §4.3), with refresh tokens that rotate
/// and whose second use ends the session. It shares no code with what makes the proofs.
final class StrictDPoPServer: Sendable {
    struct Settings {
        /// How many of the last nonces are accepted; `nil`: it wants none.
        var acceptedNonces: Int? = 1
        /// Whether each success changes the nonce.
        var changesNonces = true
        /// Whether a success names the nonce.
        var namesNonceInSuccesses = true
        /// Whether the refusal of a proof for another reason names the nonce.
        var namesNonceInFaults = true
        /// How far its clock is ahead.
        var clockOffset: TimeInterval = 0
        /// A response to the next whole refresh, in place of its own.
        var nextRefresh: LoopbackServer.Action?
        /// Whether the next request to a resource fails before it reaches the server, whose nonce changes meanwhile.
        var fails: @Sendable () -> Bool = { false }
        /// Where the path `/redirect` leads.
        var redirectTarget = "/articles"
    }

    struct State {
        var settings = Settings()
        var nonce = 0
        var identifiers: Set<String> = []
        /// The thumbprint to which the tokens are bound.
        var thumbprint: String?
        var generation = 0
        var expired = ""
        var isRevoked = false
        /// What was wrong with proofs, in order.
        var faults: [String] = []
        /// The whole refreshes, with their idempotency keys, and the calls that had no refresh token.
        var refreshes: [String] = []
        var probes = 0
        var challenges = 0
        var resources = 0
    }

    private let state = Locked(State())
    private let listener: Locked<LoopbackServer?> = Locked(nil)

    init(_ change: (inout Settings) -> Void = { _ in }) throws {
        self.change(change)
        let server = try LoopbackServer { [state] request in state.withLock { $0.respond(to: request) } }
        listener.withLock { $0 = server }
    }

    var requests: [LoopbackServer.Request] { listener.withLock { $0?.requests ?? [] } }
    var url: URL { listener.withLock { $0?.url } ?? URL(fileURLWithPath: "/") }
    var tokenEndpoint: URL { url.appendingPathComponent("token") }
    var now: State { state.withLock { $0 } }
    func stop() { listener.withLock { $0?.stop() } }
    func change(_ change: (inout Settings) -> Void) { state.withLock { change(&$0.settings) } }

    /// Makes the access token invalid, and not the refresh token.
    func expireAccessToken() { state.withLock { $0.expired = $0.accessToken } }

    /// Binds the tokens to a key, as a sign-in does.
    func bind(to thumbprint: String) { state.withLock { $0.thumbprint = thumbprint } }
}

extension StrictDPoPServer.State {
    var refreshToken: String { "refresh-\(generation)" }
    var accessToken: String { "access-\(generation)" }

    fileprivate mutating func respond(to request: LoopbackServer.Request) -> LoopbackServer.Action {
        var action = request.target == "/token" ? token(request) : resource(request)
        guard case .respond(let status, var headers, let body) = action else { return action }
        headers["Date"] = Self.text(of: date)
        let isFault =
            body.range(of: Data("invalid_dpop_proof".utf8)) != nil
            || headers["WWW-Authenticate"]?.contains("invalid_dpop_proof") == true
        let isNamed = isFault ? settings.namesNonceInFaults : settings.namesNonceInSuccesses || status >= 400
        if settings.acceptedNonces != nil, status != 503, isNamed {
            headers["DPoP-Nonce"] = "nonce-\(nonce)"
        }
        action = .respond(status, headers: headers, body: body)
        return action
    }

    private mutating func token(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        let body = String(decoding: request.body, as: UTF8.self)
        let form = Dictionary(
            body.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
                .map { ($0[0], $0.count > 1 ? $0[1] : "") }, uniquingKeysWith: { first, _ in first })
        let sent = form["refresh_token"]
        let found: String
        switch check(request, token: nil) {
        case .success(let thumbprint): found = thumbprint
        case .failure(let fault) where fault.isChallenge:
            if sent == nil { probes += 1 } else { challenges += 1 }
            return .json(#"{"error":"use_dpop_nonce"}"#, status: 400)
        case .failure(let fault):
            faults.append(fault.text)
            return .json(#"{"error":"invalid_dpop_proof"}"#, status: 400)
        }
        if form["grant_type"] == "authorization_code" {
            thumbprint = found
            return issue()
        }
        guard let sent else {
            probes += 1
            return .json(#"{"error":"invalid_request"}"#, status: 400)
        }
        refreshes.append(request["Idempotency-Key"] ?? "")
        guard found == thumbprint, sent == refreshToken, !isRevoked else {
            isRevoked = true
            return .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        if let scripted = settings.nextRefresh {
            settings.nextRefresh = nil
            return scripted
        }
        generation += 1
        return issue()
    }

    private func issue() -> LoopbackServer.Action {
        .json(
            #"{"access_token":"\#(accessToken)","token_type":"DPoP","expires_in":600,"refresh_token":"\#(refreshToken)"}"#
        )
    }

    private mutating func resource(_ request: LoopbackServer.Request) -> LoopbackServer.Action {
        if settings.fails() {
            nonce += 1
            return .respond(503)
        }
        let authorization = request["Authorization"] ?? ""
        guard authorization.hasPrefix("DPoP ") else {
            faults.append("no DPoP token")
            return challenge("invalid_token")
        }
        let token = String(authorization.dropFirst(5))
        switch check(request, token: token) {
        case .success(let found) where found == thumbprint && token == accessToken && token != expired && !isRevoked:
            break
        case .success: return challenge("invalid_token")
        case .failure(let fault) where fault.isChallenge:
            challenges += 1
            return challenge("use_dpop_nonce")
        case .failure(let fault):
            faults.append(fault.text)
            return challenge("invalid_dpop_proof")
        }
        resources += 1
        guard request.target.hasPrefix("/redirect") else { return .json(#"{"value":1}"#) }
        return .respond(307, headers: ["Location": settings.redirectTarget])
    }

    private func challenge(_ error: String) -> LoopbackServer.Action {
        .respond(401, headers: ["WWW-Authenticate": "DPoP algs=\"ES256\", error=\"\(error)\""])
    }

    private var date: Date { Date().addingTimeInterval(settings.clockOffset) }

    private static func text(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }

    /// Checks the proof of a request.
    ///
    /// - Returns: The thumbprint of its key.
    private mutating func check(_ request: LoopbackServer.Request, token: String?) -> Result<String, ProofFault> {
        let proofs = request.values(of: "DPoP")
        guard proofs.count == 1 else { return .failure("\(proofs.count) proofs") }
        do {
            let proof = try ReceivedProof(proofs[0])
            let url = "http://\(request["Host"] ?? "")\(request.target.prefix { $0 != "?" })"
            guard proof.claims["htm"] as? String == request.method else { return .failure("htm") }
            guard proof.claims["htu"] as? String == url else { return .failure("htu") }
            guard let issued = proof.claims["iat"] as? Int, abs(date.timeIntervalSince1970 - Double(issued)) < 30 else {
                return .failure("iat")
            }
            let digest = token.map { Data(SHA256.hash(data: Data($0.utf8))).unpadded }
            guard proof.claims["ath"] as? String == digest else { return .failure("ath") }
            guard let identifier = proof.claims["jti"] as? String, identifiers.insert(identifier).inserted else {
                return .failure("jti")
            }
            guard let accepted = settings.acceptedNonces else { return .success(proof.thumbprint) }
            let known = (0..<accepted).map { "nonce-\(nonce - $0)" }
            guard let sent = proof.claims["nonce"] as? String, known.contains(sent) else {
                return .failure(ProofFault(text: "nonce", isChallenge: true))
            }
            if settings.changesNonces { nonce += 1 }
            return .success(proof.thumbprint)
        } catch {
            return .failure(error)
        }
    }
}

/// What is wrong with a proof.
struct ProofFault: Error, ExpressibleByStringInterpolation {
    let text: String
    var isChallenge = false

    init(text: String, isChallenge: Bool = false) { (self.text, self.isChallenge) = (text, isChallenge) }
    init(stringLiteral text: String) { self.text = text }
}

/// A proof whose signature is the one of its key.
struct ReceivedProof {
    let claims: [String: Any]
    let thumbprint: String

    init(_ text: String) throws(ProofFault) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Data(unpadded: parts[2])
        else { throw "no JWS" }
        guard header["typ"] as? String == "dpop+jwt", header["alg"] as? String == "ES256",
            let key = header["jwk"] as? [String: String], Set(key.keys) == ["kty", "crv", "x", "y"],
            let x = key["x"], let y = key["y"], let first = Data(unpadded: x), let second = Data(unpadded: y),
            let publicKey = try? P256.Signing.PublicKey(rawRepresentation: first + second)
        else { throw "header" }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        else { throw "signature" }
        self.claims = claims
        let canonical = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        thumbprint = Data(SHA256.hash(data: Data(canonical.utf8))).unpadded
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        Data(unpadded: part).flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
    }
}

extension Data {
    fileprivate init?(unpadded text: some StringProtocol) {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
    }

    fileprivate var unpadded: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
#endif
