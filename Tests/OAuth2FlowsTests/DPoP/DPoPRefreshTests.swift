#if canImport(CryptoKit) || Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import OAuth2Flows
import Storage
import TestSupport
import Testing

/// A session at a strict server, as a sign-in has left it.
struct BoundSession {
    let server: StrictDPoPServer
    let keys = FailingKeys()
    let prover: DPoPProver
    let thumbprint: String

    init(_ change: (inout StrictDPoPServer.Settings) -> Void = { _ in }) async throws {
        server = try StrictDPoPServer(change)
        thumbprint = try await keys.makeKeptKey()
        prover = server.prover(keys)
        server.bind(to: thumbprint)
    }

    var clock: ManualTimeSource { server.clock }
    var handler: OAuth2TokenRefreshHandler { server.handler(prover: prover) }

    /// The refresh of the current tokens.
    func request(nonces: [String: ProofNonce] = [:], _ permit: StartPermit? = nil) -> TokenRefreshRequest {
        var request = TokenRefreshRequest(
            refreshToken: server.now.refreshToken, idempotencyKey: "fixture-key", startPermit: permit)
        request.binding = TokenBinding(thumbprint: thumbprint, nonces: nonces)
        return request
    }

    /// What a session has stored: the nonce of an instant.
    func nonces(_ value: String?, age: TimeInterval = 0) -> [String: ProofNonce] {
        ["as \(server.issuer)": ProofNonce(value: value, date: clock.date - age)]
    }
}

/// Keys that a test takes away, and the thumbprints of those that were kept.
final class FailingKeys: SigningKeyStore {
    private let keys = StoredSigningKeys { _ in MemoryTokenStore() }
    private let thumbprints = Recorder<String>()
    let failure = Locked<TokenStoreError?>(nil)

    var kept: [String] { thumbprints.values }

    func makeKey() async throws -> any SigningKey { try await keys.makeKey() }

    func keep(_ key: any SigningKey) async throws {
        thumbprints.record(key.publicKey.thumbprint)
        try await keys.keep(key)
    }

    /// Makes and keeps a key, and returns its thumbprint.
    func makeKeptKey() async throws -> String {
        let key = try await makeKey()
        try await keep(key)
        return key.publicKey.thumbprint
    }

    func key(withThumbprint thumbprint: String) async throws -> (any SigningKey)? {
        if let error = failure.withLock({ $0 }) { throw error }
        return try await keys.key(withThumbprint: thumbprint)
    }

    func deleteKey(withThumbprint thumbprint: String) async throws {
        try await keys.deleteKey(withThumbprint: thumbprint)
    }
}

@Suite("G34: the refresh of tokens that are bound to a key", .timeLimit(.minutes(10))) struct DPoPRefreshTests {
    /// The age of the nonce that is stored, which is too old, or of a clock that was set back; `nil`: none is stored.
    @Test(arguments: [nil, 250, -60])
    func `a nonce that is not known is fetched by a call that spends nothing`(_ age: TimeInterval?) async throws {
        let session = try await BoundSession()
        let nonces = age.map { session.nonces("nonce-0", age: $0) } ?? [:]
        let result = try await session.handler.refresh(session.request(nonces: nonces))
        let now = session.server.now
        #expect(result.accessToken == "access-1" && result.refreshToken == "refresh-1")
        #expect(now.probes == 1 && now.challenges == 0 && now.refreshes == ["fixture-key"] && now.faults == [])
        #expect(result.binding?.thumbprint == session.thumbprint)
        #expect(result.binding?.nonces.values.map(\.value) == ["nonce-1"])
    }

    @Test func `KE4: the nonces of an origin are those of a role, and an older build's have none`() async throws {
        let session = try await BoundSession()
        let old = session.nonces("nonce-old").map { (String($0.key.dropFirst(3)), $0.value) }
        let request = session.request(nonces: Dictionary(uniqueKeysWithValues: old))
        let binding = try #require(try await session.handler.refresh(request).binding)
        #expect(session.server.now.probes == 1 && session.server.now.challenges == 0)
        #expect(binding.nonces.keys.allSatisfy { $0.hasPrefix("as ") }, "the old ones are gone")
        let token = SessionToken(value: "access-1", session: SessionID(), generation: 1, binding: binding)
        session.prover.received(nonce: "nonce-of-the-api", serverDate: nil, from: session.server.url, for: token)
        _ = try await session.handler.refresh(session.request())
        #expect(session.server.now.probes == 1 && session.server.now.challenges == 0)
    }

    /// The time of the probe's proof was wrong, and its refusal named no nonce.
    @Test(arguments: [true, false])
    func `KE6: a refused probe is made anew with the refusal's date`(_ isKnown: Bool) async throws {
        let session = try await BoundSession { ($0.clockOffset, $0.namesNonceInFaults) = (-3_600, false) }
        let nonces = isKnown ? session.nonces("nonce-old", age: 250) : [:]
        _ = try await session.handler.refresh(session.request(nonces: nonces))
        let now = session.server.now
        #expect(now.faults == ["iat"] && now.probes == 1 && now.challenges == 0 && now.refreshes == ["fixture-key"])
    }

    @Test func `a gateway that refuses a probe and a refresh says nothing of nonces`() async throws {
        let session = try await BoundSession { $0.gatewayRefusals = 2 }
        #expect(await session.handler.refreshError(session.request())?.status == 403)
        _ = try await session.handler.refresh(session.request())
        #expect(session.server.now.probes == 1 && session.server.now.challenges == 0)
    }

    @Test func `a challenge is answered once, by the same call with a new proof`() async throws {
        let session = try await BoundSession()
        _ = try await session.handler.refresh(session.request(nonces: session.nonces("nonce-old")))
        let now = session.server.now
        #expect(now.probes == 0 && now.challenges == 1 && now.refreshes == ["fixture-key"] && now.faults == [])
        let calls = session.server.requests
        #expect(calls.map { $0["Idempotency-Key"] } == ["fixture-key", "fixture-key"])
        #expect(calls.map(\.body).first == calls.map(\.body).last)
    }

    @Test func `a challenge after the end of the right to start is a refusal, and no second call`() async throws {
        let session = try await BoundSession { $0.delay = .seconds(30) }
        let permit = StartPermit(until: session.clock.uptime + .seconds(30), on: session.clock)
        let request = session.request(nonces: session.nonces("nonce-old"), permit)
        let error = await session.handler.refreshError(request)
        #expect(error?.code == .unavailable && error?.status == 400, "a whole response: the call is not lost")
        #expect(session.server.now.challenges == 1 && session.server.requests.count == 1)
    }

    @Test(
        arguments: [
            (0, nil, "nonce-old", .unavailable, "use_dpop_nonce"), (1, "invalid_dpop_proof", nil, .unavailable, nil),
            (1, "invalid_grant", nil, .rejected, nil), (1, "invalid_grant", "nonce-old", .rejected, "use_dpop_nonce"),
        ] as [(Int, String?, String?, TokenRefreshError.Code, String?)])
    func `a refused proof is unavailable, and a refused token after a challenge ends the session by name`(
        accepted: Int, refusal: String?, nonce: String?, code: TokenRefreshError.Code, challenge: String?
    ) async throws {
        let session = try await BoundSession { ($0.acceptedNonces, $0.nextRefusal) = (accepted, refusal) }
        let request = session.request(nonces: nonce.map { session.nonces($0) } ?? [:])
        let error = await session.handler.refreshError(request)
        #expect(error?.code == code && error?.serverCode == refusal ?? "use_dpop_nonce" && error?.status == 400)
        #expect(error?.challenge == challenge)
        if accepted == 0 { #expect(session.server.now.challenges == 2, "a server that wants a nonce again") }
    }

    @Test func `without the key, or what proves it, no call is made`() async throws {
        let session = try await BoundSession()
        var handler = session.handler
        handler.prover = nil
        let unset = await handler.refreshError(session.request())
        #expect(unset?.code == .unavailable && unset?.reason?.contains("prover") == true)

        session.keys.failure.withLock { $0 = TokenStoreError(.unavailable, reason: "locked") }
        handler.prover = session.server.prover(session.keys)
        let locked = await handler.refreshError(session.request())
        #expect(locked?.code == .unavailable && locked?.status == nil)

        session.keys.failure.withLock { $0 = nil }
        try await session.keys.deleteKey(withThumbprint: session.thumbprint)
        // KE1: another process may have it.
        let absent = await handler.refreshError(session.request())
        #expect(absent?.code == .userActionRequired && absent?.stepUp?.demand == .key && absent?.status == nil)
        #expect(session.server.requests.isEmpty)
    }

    @Test func `no answer to the call for a nonce is no lost response`() async throws {
        let session = try await BoundSession()
        session.server.stop()
        let permit = StartPermit(until: session.clock.uptime + .seconds(30), on: session.clock)
        #expect(permit.handOver())
        let error = await session.handler.refreshError(session.request(permit))
        #expect(error?.code == .unavailable && error?.status == nil)
        #expect(permit.withdraw() == .notMade)
    }

    @Test func `G28: a right to start that has ended is not used`() async throws {
        let session = try await BoundSession()
        let late = StartPermit(until: session.clock.uptime + .seconds(30), on: session.clock)
        #expect(late.handOver() && late.start())
        session.clock.advance(by: .seconds(30))
        let error = await session.handler.refreshError(session.request(nonces: session.nonces("nonce-0"), late))
        #expect(error?.status == nil && session.server.requests.isEmpty)
    }

    /// The skew was stored when the clock of the device was right. It is an hour ahead now.
    @Test(arguments: [Duration.zero, .seconds(10)])
    func `KE6: a proof refused for its time is made anew with the refusal's date`(_ delay: Duration) async throws {
        let session = try await BoundSession { ($0.clockOffset, $0.delay) = (-3_600, delay) }
        let request = session.request(nonces: session.nonces("nonce-0", age: 10))
        let result = try await session.handler.refresh(request)
        let now = session.server.now
        #expect(now.faults == ["iat"] && now.refreshes == ["fixture-key"] && now.probes + now.challenges == 0)
        #expect(result.binding?.nonces.values.allSatisfy { $0.clockSkew < -3_500 } == true, "it is stored anew")
    }
}
#endif
