public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation
import NetworkCore

/// Proves to servers that a session has the key to which its tokens are bound (DPoP, RFC 9449).
///
/// One prover serves the sign-in, the refresh handler and the requests of all sessions of a process: they share the
/// nonces of the servers.
///
/// ```swift
/// let prover = DPoPProver(keys: keys)
/// var handler = OAuth2TokenRefreshHandler(tokenEndpoint: server.tokenEndpoint, client: client, network: api)
/// handler.prover = prover
/// let session = TokenRefreshCoordinator(store: store, handler: handler)
/// let network = api.authenticated(by: session, policy: AuthenticationPolicy(placement: .dpop(prover)))
/// ```
///
/// A key belongs to one session: a sign-in makes it, and the end of the session deletes it.
public final class DPoPProver: RequestProof {
    /// The age at which a nonce is fetched anew before a refresh (G34). The default is 4 minutes.
    public let nonceLimit: Duration

    /// How many keys are kept in memory. A key beyond them is read again.
    private static let keptKeys = 64

    private struct State {
        var keys: [String: any SigningKey] = [:]
        /// Those of sign-ins that are under way.
        var unkept: [String: any SigningKey] = [:]
        var nonces = DPoPNonceTable()
        /// The last access token and its digest: requests in a row carry the same one.
        var digest: (token: String, value: String)?

        mutating func keep(_ key: any SigningKey, _ thumbprint: String) {
            if keys.count >= DPoPProver.keptKeys, let other = keys.keys.first { keys[other] = nil }
            keys[thumbprint] = key
        }
    }

    private let keys: any SigningKeyStore
    private let clock: any TimeSource
    private let state = Locked(State())

    /// Creates a prover. The age limit is that of ``nonceLimit``: many servers change their nonces every 5 minutes. The
    /// time in a proof is the server's, as its responses tell it (G19).
    public init(
        keys: any SigningKeyStore, nonceLimit: Duration = .seconds(4 * 60), clock: any TimeSource = SystemTimeSource()
    ) {
        self.keys = keys
        self.nonceLimit = nonceLimit
        self.clock = clock
    }

    // MARK: RequestProof

    /// See `RequestProof.fields(method:url:token:)`. The field is `DPoP`.
    public func fields(method: String, url: URL, token: SessionToken) async throws -> [String: String] {
        guard let binding = token.binding else { return [:] }
        let key = try await key(of: binding)
        let digest = digest(of: token.value)
        let proof = try await proof(
            of: key, binding.thumbprint, method: method, url: url, as: .resource, digest: digest)
        return ["DPoP": proof]
    }

    /// See `RequestProof.received(nonce:serverDate:from:for:)`.
    public func received(nonce: String?, serverDate: Date?, from url: URL, for token: SessionToken) {
        guard let binding = token.binding else { return }
        note(nonce, serverDate: serverDate, from: url, as: .resource, binding.thumbprint)
    }

    // MARK: Keys

    /// Makes the key of a session that is about to be signed in. It is in memory until it is kept.
    func makeKey() async throws -> any SigningKey {
        let key = try await keys.makeKey()
        state.withLock { $0.unkept[key.publicKey.thumbprint] = key }
        return key
    }

    /// Keeps the key of a sign-in, once more where the session that had it has ended. One that is kept already stays.
    func keepKey(_ key: any SigningKey, _ thumbprint: String) async throws {
        let isKept = state.withLock { state in
            let isKept = state.unkept.removeValue(forKey: thumbprint) == nil && state.keys[thumbprint] != nil
            if !isKept { state.keep(key, thumbprint) }
            return isKept
        }
        if !isKept { try await keys.keep(key) }
    }

    /// Finds the key of a session, and takes its stored nonces.
    ///
    /// - Throws: `SigningKeyError` when it no longer exists; `TokenStoreError` when it cannot be read now.
    func key(of binding: TokenBinding) async throws -> any SigningKey {
        let now = moment
        let known = state.withLock { state in
            state.nonces.restore(binding.withoutUnknownRoles, at: now)
            return state.keys[binding.thumbprint] ?? state.unkept[binding.thumbprint]
        }
        if let known { return known }
        guard let key = try await keys.key(withThumbprint: binding.thumbprint) else {
            throw SigningKeyError(thumbprint: binding.thumbprint)
        }
        state.withLock { $0.keep(key, binding.thumbprint) }
        return key
    }

    /// Deletes the key of a session that has ended, or of a sign-in that has failed.
    func deleteKey(_ thumbprint: String) async throws {
        let isUnkept = state.withLock { state in
            state.keys[thumbprint] = nil
            state.nonces.forget(thumbprint)
            return state.unkept.removeValue(forKey: thumbprint) != nil
        }
        if !isUnkept { try await keys.deleteKey(withThumbprint: thumbprint) }
    }

    // MARK: Proofs

    /// Makes the proof of a request with a key of a known thumbprint. `digest` is that of the access token that the
    /// request carries; without `hasNonce`, the last nonce of the server is left out.
    func proof(
        of key: any SigningKey, _ thumbprint: String, method: String, url: URL, as role: DPoPRole,
        digest: String? = nil, hasNonce: Bool = true
    ) async throws -> String {
        guard let target = DPoPProof.target(of: url), let origin = role.server(at: url) else {
            throw NetworkError(.invalidRequest, reason: "no proof can name this URL; it must be http or https")
        }
        let now = moment
        let proof = state.withLock { state in
            DPoPProof(
                method: method, target: target, issuedAt: state.nonces.serverDate(of: origin, thumbprint, at: now),
                tokenDigest: digest, nonce: hasNonce ? state.nonces.nonce(of: origin, thumbprint) : nil)
        }
        return try await proof.signed(by: key)
    }

    /// Notes a response. `sent` is the uptime at which its request was sent; `nil`: not long ago.
    func note(
        _ nonce: String?, serverDate: Date?, from url: URL, as role: DPoPRole, _ thumbprint: String,
        sentAt sent: Duration? = nil
    ) {
        guard let origin = role.server(at: url) else { return }
        let now = moment
        state.withLock {
            $0.nonces.note(nonce, serverDate: serverDate, of: origin, thumbprint, sentAt: sent, at: now)
        }
    }

    /// The time in the next proof for an authorization server.
    func time(at url: URL, _ thumbprint: String) -> SignedTime {
        let (now, origin) = (moment, DPoPRole.authorizationServer.server(at: url) ?? "")
        return SignedTime(state.withLock { $0.nonces.serverDate(of: origin, thumbprint, at: now) }, by: clock)
    }

    /// Whether a nonce is to be fetched before a call that spends a token.
    func needsNonce(of url: URL, _ thumbprint: String) -> Bool {
        guard let origin = DPoPRole.authorizationServer.server(at: url) else { return false }
        let now = moment
        return state.withLock { $0.nonces.needsNonce(of: origin, thumbprint, limit: nonceLimit, at: now) }
    }

    /// Whether a response of the authorization server has shown its clock.
    func knowsClock(of url: URL, _ thumbprint: String) -> Bool {
        guard let origin = DPoPRole.authorizationServer.server(at: url) else { return false }
        return state.withLock { $0.nonces.knowsClock(of: origin, thumbprint) }
    }

    /// What is stored with the tokens of a session.
    func binding(_ thumbprint: String) -> TokenBinding {
        let now = moment
        return state.withLock { $0.nonces.binding(thumbprint, at: now) }
    }

    private var moment: DPoPNonceTable.Moment { .init(uptime: clock.uptime, date: clock.date) }

    private func digest(of token: String) -> String {
        if let known = state.withLock({ $0.digest }), known.token == token { return known.value }
        let value = DPoPProof.digest(of: token)
        state.withLock { $0.digest = (token, value) }
        return value
    }
}

/// What a server is to a proof. Its nonces are those of its role: an authorization server and a resource server of one
/// origin each have their own (RFC 9449 §9).
enum DPoPRole: String, CaseIterable {
    case authorizationServer = "as"
    case resource = "rs"

    /// The name under which what is known of a server is kept. `nil`: no proof can name the URL.
    func server(at url: URL) -> String? { Origin(url).map { "\(rawValue) \($0)" } }
}

extension TokenBinding {
    /// The binding without the nonces that an older build has stored, whose role is not known.
    fileprivate var withoutUnknownRoles: TokenBinding {
        TokenBinding(
            thumbprint: thumbprint,
            nonces: nonces.filter { name, _ in DPoPRole.allCases.contains { name.hasPrefix($0.rawValue + " ") } })
    }
}

extension DPoPProver: RedactedDescription {
    /// The name of the type: neither keys, nonces nor tokens.
    public var description: String { "DPoPProver" }
}
