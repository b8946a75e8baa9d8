import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

/// G34: where a proof of the key is sent with a token, and what a challenge does.
@Suite(.timeLimit(.minutes(10))) struct ProvedRequestTests {
    /// Numbers the proofs, and keeps for which request each one is, and the nonces that it is told.
    private final class NumberedProof: RequestProof {
        let (made, nonces, dates) = (Recorder<String>(), Recorder<String?>(), Recorder<Date?>())
        private let failure = Locked<(any Error)?>(nil)

        func fail(with error: any Error) { failure.withLock { $0 = error } }

        func fields(method: String, url: URL, token: SessionToken) async throws -> [String: String] {
            if let failure = failure.withLock({ $0 }) { throw failure }
            made.record("\(method) \(url.path) \(token.value)")
            return ["DPoP": "proof-\(made.values.count)"]
        }

        func received(nonce: String?, serverDate: Date?, from url: URL, for token: SessionToken) {
            nonces.record(nonce)
            dates.record(serverDate)
        }
    }

    private let provider = ScriptedTokenProvider(Self.token(0))
    private let transport = StubTransport()
    private let proof = NumberedProof()

    private static func token(_ generation: Int, isBound: Bool = true) -> SessionToken {
        SessionToken(
            value: "access-\(generation)", session: SessionID(rawValue: "session-a"), generation: generation,
            binding: isBound ? TokenBinding(thumbprint: "key-a") : nil)
    }

    private var network: AuthenticatedNetworkClient {
        NetworkClient(transport).authenticated(by: provider, policy: AuthenticationPolicy(placement: .dpop(proof)))
    }

    /// A server that wants a nonce in the proof (RFC 9449 §9).
    private func challenge(_ nonce: String) -> StubResponse {
        .status(401, headers: ["WWW-Authenticate": #"DPoP error="use_dpop_nonce""#, "DPoP-Nonce": nonce])
    }

    /// A server that refuses a proof, as it does for its time (RFC 9449 §7.1).
    private func refusal(at date: String?) -> StubResponse {
        var headers: HTTPHeaders = ["WWW-Authenticate": #"DPoP error="invalid_dpop_proof""#]
        headers["Date"] = date
        return .status(401, headers: headers)
    }

    private static let date = "Sun, 01 Nov 2026 10:00:00 GMT"

    @Test func `G19: a proof is repeated once with the server's time and once with its nonce, and the token stays`()
        async throws
    {
        transport.respond(refusal(at: Self.date), challenge("n1"), .article)
        _ = try await network.send(.article(7))
        #expect(transport.sent("DPoP") == ["proof-1", "proof-2", "proof-3"])
        #expect(transport.sent("Authorization") == ["DPoP access-0", "DPoP access-0", "DPoP access-0"])
        #expect(proof.dates.values.first == Date(timeIntervalSince1970: 1_793_527_200))
        #expect(proof.nonces.values == [nil, "n1", nil] && provider.refused == [])
    }

    @Test func `what the server refuses again, or for a time that it does not tell, fails, and the token stays`()
        async throws
    {
        for responses in [
            [refusal(at: Self.date), refusal(at: Self.date)], [refusal(at: nil)], [challenge("n1"), challenge("n2")],
        ] {
            let transport = StubTransport(responses.map { .any ~> $0 })
            let network = NetworkClient(transport)
                .authenticated(by: provider, policy: AuthenticationPolicy(placement: .dpop(proof)))
            #expect(await networkError { try await network.send(.article(7)) }?.status == 401)
            #expect(transport.requests.count == responses.count && provider.refused == [])
        }
    }

    @Test func `each token that replaces a refused one may be challenged once`() async throws {
        provider.onReplacement { Self.token($0.generation + 1) }
        transport.respond(challenge("n1"), .status(401), challenge("n2"), .article)
        _ = try await network.send(.article(7))
        #expect(provider.refused.map(\.generation) == [0])
        let tokens = transport.sent("Authorization").map { $0?.suffix(8) }
        #expect(tokens == ["access-0", "access-0", "access-1", "access-1"])
        #expect(Set(transport.sent("DPoP")).count == 4)
    }

    @Test func `each hop of a redirect has a proof for its URL, and none leaves the origin`() async throws {
        transport.respond(.redirect(to: "/api/v2/articles/7"), .redirect(to: "https://cdn.example.net/7"), .article)
        _ = try await network.send(.article(7))
        #expect(transport.sent("DPoP") == ["proof-1", "proof-2", nil])
        #expect(transport.sent("Authorization") == ["DPoP access-0", "DPoP access-0", nil])
        #expect(proof.made.values.last?.contains("/api/v2/articles/7") == true)
    }

    @Test func `a bound token is not sent without a proof, and one of no key is a bearer token without one`()
        async throws
    {
        let bearer = NetworkClient(transport).authenticated(by: provider)
        #expect(await networkError { try await bearer.send(.article(7)) }?.code == .proofRequired)
        #expect(transport.requests.isEmpty)
        provider.set(.success(Self.token(0, isBound: false)))
        transport.respond(.article)
        _ = try await network.send(.article(7))
        #expect(transport.sent("Authorization") == ["Bearer access-0"] && transport.sent("DPoP") == [nil])
    }

    @Test func `a challenge to a request that carried no proof refreshes nothing`() async throws {
        provider.set(.success(Self.token(0, isBound: false)))
        transport.respond(challenge("n1"))
        let error = await networkError { try await network.send(.article(7)) }
        #expect(error?.status == 401 && transport.requests.count == 1 && provider.refused == [])
    }

    @Test func `without its key a session is asked for another token, which ends it, and a follower is not`()
        async throws
    {
        proof.fail(with: SigningKeyError(thumbprint: "key-a"))
        provider.onReplacement { _ in throw AuthenticationError(.sessionEnded) }
        await #expect(throws: (any Error).self) { try await network.send(.article(7)) }
        #expect(provider.refused.count == 1)

        var followed = Self.token(0)
        followed.issuance.isFollowed = true
        provider.set(.success(followed))
        let error = await networkError { try await network.send(.article(7)) }
        #expect(error?.code == .proofRequired && provider.refused.count == 1, "the owner has the key")
        #expect(transport.requests.isEmpty)
    }

    @Test func `a key that cannot be read now is a store that is unavailable`() async throws {
        proof.fail(with: TokenStoreError(.unavailable, reason: "locked"))
        let error = await networkError { try await network.send(.article(7)) }
        #expect(error?.authentication?.code == .storeUnavailable && provider.refused == [])
    }
}
