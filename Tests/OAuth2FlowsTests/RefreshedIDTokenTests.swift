#if Crypto
import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import Testing

@testable import OAuth2Flows

/// Id tokens in the responses to refreshes (OpenID Connect Core §12.2), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct RefreshedIDTokenTests {
    private let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    private let key = ServerKey.es256("first")

    private func handler(_ server: SigningServer) -> OAuth2TokenRefreshHandler {
        let client = OAuth2Client.public(id: SigningServer.clientID)
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.description.tokenEndpoint, client: client, network: server.provider.network)
        var idTokens = IDTokenValidator(server: server.description, client: client, network: server.provider.network)
        idTokens.clock = clock
        handler.idTokens = idTokens
        return handler
    }

    private func subject(_ issuer: String, _ id: String = "fixture-user") -> TokenSubject? {
        TokenSubject(issuer: issuer, id: id)
    }

    @Test func `G31: a refresh hands over whose tokens came, another user's too`() async throws {
        let server = try SigningServer(clock.date, [key])
        let handler = handler(server)
        let issuer = server.provider.issuer
        // A refresh sends no nonce, so that none is compared.
        server.issue(try key.sign(server.claims))
        let own = try await handler.refresh(.fixture)
        #expect(own.subject == subject(issuer) && own.refreshToken == "fixture-refresh")
        server.issue(try key.sign(server.claims.merging(["sub": #""mallory""#]) { $1 }))
        #expect(try await handler.refresh(.fixture).subject == subject(issuer, "mallory"))
        let elsewhere = "https://elsewhere.example.com"
        server.issue(try key.sign(server.claims.merging(["iss": #""\#(elsewhere)""#]) { $1 }))
        #expect(try await handler.refresh(.fixture).subject == subject(elsewhere))
    }

    @Test func `an id token that breaks another rule names no user, and the tokens are kept`() async throws {
        let server = try SigningServer(clock.date, [key])
        let handler = handler(server)
        let changes: [Members] = [["aud": #""other""#], ["azp": #""other""#], ["sub": #""""#]]
        var texts = try changes.map { change in try key.sign(server.claims.merging(change) { $1 }) }
        texts += [try ServerKey.es256("first").sign(server.claims), "a.b.c", "fixture"]
        for text in texts {
            server.issue(text)
            let tokens = try await handler.refresh(.fixture)
            #expect(tokens.subject == nil && tokens.refreshToken == "fixture-refresh", "\(text)")
        }
        server.issue(nil)
        #expect(try await handler.refresh(.fixture).subject == nil)
    }

    @Test(arguments: [["exp": "1"], ["iat": "1900000000"]])
    func `G31: an id token that is not of this time still names its user`(_ change: Members) async throws {
        let server = try SigningServer(clock.date, [key])
        let handler = handler(server)
        for user in ["fixture-user", "mallory"] {
            let claims = server.claims.merging(change) { $1 }.merging(["sub": "\"\(user)\""]) { $1 }
            server.issue(try key.sign(claims))
            #expect(try await handler.refresh(.fixture).subject == subject(server.provider.issuer, user))
        }
    }

    /// §3.1.3.7, rule 6: the tokens came from the token endpoint itself, over a connection that has shown who it is.
    @Test func `where the keys cannot be read, the connection vouches for the token`() async throws {
        let server = try SigningServer(clock.date, [key])
        let handler = handler(server)
        server.publish(.respond(503))
        server.issue(try key.sign(server.claims))
        #expect(try await handler.refresh(.fixture).subject == subject(server.provider.issuer))
        server.issue(try key.sign(server.claims.merging(["aud": #""other""#]) { $1 }))
        #expect(try await handler.refresh(.fixture).subject == nil)
    }

    @Test func `G8: keys that do not arrive hold new tokens back for five seconds`() async throws {
        let (arrived, leave) = (Race<Void>(), DispatchSemaphore(value: 0))
        let server = try SigningServer(clock.date, [key]) {
            arrived.end(())
            leave.wait()
        }
        server.issue(try key.sign(server.claims))
        let handler = handler(server)
        let refresh = Task { try await handler.refresh(.fixture) }
        await arrived.value()
        await clock.advance(by: .seconds(5), whenAsleep: 1)
        #expect(try await refresh.value.subject == subject(server.provider.issuer))
        leave.signal()
    }

    @Test func `without a validator an id token is not looked at`() async throws {
        let server = try SigningServer(clock.date, [key])
        var handler = handler(server)
        handler.idTokens = nil
        server.issue(try key.sign(server.claims))
        #expect(try await handler.refresh(.fixture).subject == nil && server.fetches == 0)
    }
}
#endif
