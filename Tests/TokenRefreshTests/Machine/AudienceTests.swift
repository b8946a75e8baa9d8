import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

extension TokenAudience {
    static let files = TokenAudience("files")
    static let mail = TokenAudience("mail")
}

/// Access tokens of several audiences from one refresh token (RFC 8707): one refresh at a time, whatever the audience.
@Suite struct AudienceTests {
    private let both: Set<TokenAudience> = [.files, .mail]
    private let refused = TokenRefreshError(.audienceRefused, status: 400, serverCode: "invalid_target")

    /// A session that has a token for the files, too.
    private func withFiles(
        lifetime: Duration? = .seconds(3_600), main: Duration? = .seconds(3_600), isShared: Bool = false
    ) -> MachineScript {
        var script = MachineScript.signedIn(isShared: isShared, lifetime: main, audiences: both)
        #expect(script.ask(1, for: .files) == [isShared ? "lease" : "call g0 for files"])
        if isShared { #expect(script.leased(reading: .stored("ada", 0)) == ["call g0 for files"]) }
        #expect(script.finish(lifetime: lifetime) == ["1: ada g1 for files"] + (isShared ? ["release"] : []))
        return script
    }

    private func filesToken(_ script: MachineScript) -> SessionToken? {
        script.machine.readyToken(for: .files, at: script.uptime)
    }

    @Test func `G1: three audiences are refreshed in turn, each with the newest refresh token, and never two at once`()
    {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        #expect(script.ask(2, for: .mail) == [])
        #expect(script.ask(3, for: .files) == [])
        #expect(script.refresh(4) == [])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-0")
        #expect(script.lastRequest?.accessToken == "")
        #expect(script.finish() == ["1: ada g1 for files", "3: ada g1 for files", "call g1 for mail"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        #expect(script.finish() == ["2: ada g2 for mail", "call g2"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-2")
        #expect(script.lastRequest?.accessToken == "access-ada-0")
        #expect(script.finish() == ["4: signed in ada"])
        #expect(script.machine.current?.bundle.value(for: .files) == "files-ada-1")
        #expect(script.machine.current?.bundle.value(for: .mail) == "mail-ada-2")
        #expect(script.machine.current?.bundle.accessToken == "access-ada-3")
        #expect(script.machine.isIdle)
    }

    @Test func `an audience that the handler does not list is refused, and no call is made`() {
        var script = MachineScript.signedIn(audiences: [.files])
        #expect(script.ask(1, for: .mail) == ["1: audienceNotListed"])
        let token = SessionToken(
            value: "mail-ada-0", session: SessionID(rawValue: "ada"), generation: 0, audience: .mail)
        #expect(script.refused(2, TokenRefusal(of: token)) == ["2: audienceNotListed"])
        var restarted = MachineScript(audiences: [.files])
        #expect(restarted.ask(1, for: .mail) == ["1: audienceNotListed"])
    }

    @Test func `G18: a valid token of an audience is at hand without an event, and has no refresh token beside it`()
        throws
    {
        let script = withFiles()
        let token = try #require(filesToken(script))
        #expect(token.value == "files-ada-1")
        #expect(token.audience == .files)
        #expect(token.refreshToken == nil)
        #expect(script.machine.readyToken(for: .mail, at: script.uptime) == nil)
        #expect(script.machine.readyToken(at: script.uptime)?.value == "access-ada-0")
    }

    @Test func `G2: a refused token is compared with the token of its own audience`() throws {
        var script = withFiles()
        let (main, files) = (script.token(1), try #require(filesToken(script)))
        _ = script.pass(.seconds(60))
        #expect(script.refused(2, TokenRefusal(of: files)) == ["call g1 for files"])
        _ = script.finish()
        // A later refusal of the same token says nothing of the new one.
        #expect(script.refused(3, TokenRefusal(of: files)) == ["3: ada g2 for files"])
        // The generation has moved on twice, and the main token is still the first one.
        #expect(script.refused(4, TokenRefusal(of: main)) == ["call g2"])
        #expect(script.finish() == ["4: ada g3"])
        #expect(script.refused(5, TokenRefusal(of: main)) == ["5: ada g3"])
    }

    @Test func `G3: each token has its own windows`() throws {
        var script = withFiles(lifetime: .seconds(60))
        _ = script.pass(.seconds(54))
        #expect(script.ask(2) == ["2: ada g1"])
        #expect(script.ask(3, for: .files) == ["3: ada g1 for files", "call g1 for files"])
        #expect(script.finish(lifetime: .seconds(60)) == [])
        _ = script.pass(.seconds(60))
        #expect(script.ask(4) == ["4: ada g2"])
        #expect(script.ask(5, for: .files) == ["call g2 for files"])
    }

    @Test func `G3: the windows of the main token stay where a refresh for another audience has moved the generation`()
    {
        let before = MachineScript.signedIn().machine.current?.expiry
        let script = withFiles()
        #expect(script.machine.current?.expiry == before)
        let bundle = script.machine.current?.bundle
        #expect(bundle?.generation == 1)
        #expect(bundle?.accessGeneration == 0)
        #expect(bundle?.audienceTokens[.files]?.generation == 1)
        #expect(bundle.map(RefreshSpread.init(of:)) == RefreshSpread(of: .stored("ada", 0)))
    }

    @Test func `G10: an endpoint that refuses a fresh token of an audience costs no refresh, and the main token none`()
        throws
    {
        var script = withFiles()
        let refusal = TokenRefusal(of: try #require(filesToken(script)), endpoint: "GET /files")
        #expect(script.refused(2, refusal) == ["2: unauthorized"])
        #expect(script.refused(3, TokenRefusal(of: script.token(1), endpoint: "GET /files")) == ["call g1"])
        // The refresh under way is not this token's: the endpoint does not get another one by it.
        #expect(script.refused(4, refusal) == ["4: unauthorized"])
        #expect(script.finish() == ["3: ada g2"])
    }

    @Test func `G6: an outage is shared by the requests of every audience`() throws {
        var script = withFiles()
        let refusal = TokenRefusal(of: try #require(filesToken(script)))
        #expect(script.ask(2, for: .mail) == ["call g1 for mail"])
        #expect(script.ask(3, for: .files) == ["3: ada g1 for files"])
        #expect(script.refresh(4) == [])
        #expect(
            script.respond(TokenRefreshError(.unavailable, retryAfter: .seconds(20), status: 503))
                == ["2: refreshUnavailable", "4: refreshUnavailable"])
        #expect(script.refused(5, refusal) == ["5: refreshUnavailable"])
        #expect(script.ask(6, for: .mail) == ["6: refreshUnavailable"])
    }

    @Test func `G22: without a refresh token there is none for another audience, and the session stays`() {
        var script = MachineScript.signedIn(refreshToken: "", audiences: both)
        #expect(script.ask(1, for: .files) == ["1: noRefreshToken"])
        #expect(script.ask(2) == ["2: ada g0"])
    }

    @Test func `G25: a request for an audience waits for its own deadline, whatever is refreshed before it`() {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        #expect(script.ask(2, for: .mail) == [])
        _ = script.pass(.seconds(20))
        #expect(script.finish() == ["1: ada g1 for files", "call g1 for mail"])
        #expect(script.pass(.seconds(9)) == [])
        #expect(script.pass(.seconds(1)) == ["2: refreshUnavailable"])
        #expect(script.finish() == [])
        #expect(script.ask(3, for: .mail) == ["3: ada g2 for mail"])
    }

    // MARK: invalid_target

    @Test
    func `G10: an audience that the server refuses fails its own requests, and the next audience is refreshed at once`()
        throws
    {
        var script = MachineScript.signedIn(audiences: both)
        script.recordsIntents = false
        #expect(script.ask(1, for: .files) == ["intent ada g0"])
        #expect(script.wrote() == ["call g0 for files"])
        let key = try #require(script.lastRequest?.idempotencyKey)
        #expect(script.ask(2, for: .mail) == [])
        #expect(script.respond(refused) == ["1: refreshUnavailable", "failed ada g0"])
        let failure = try #require(script.lastContent?.bundle?.refreshIntent?.failure)
        #expect(failure.isOfAudience == true)
        #expect(script.wrote() == ["intent ada g0"])
        #expect(script.wrote() == ["call g0 for mail"])
        #expect(script.lastRequest?.idempotencyKey != key)
        script.recordsIntents = true
        #expect(script.finish() == ["2: ada g1 for mail"])
        #expect(script.machine.status.lastFailure == nil)
    }

    @Test func `events of a refresh name its audience`() {
        var script = MachineScript.signedIn(audiences: both)
        _ = script.ask(1, for: .files)
        _ = script.finish()
        _ = script.ask(2, for: .mail)
        _ = script.respond(refused)
        _ = script.refresh(3)
        _ = script.finish()
        let audiences = script.events.map { event in
            switch event {
            case .refreshStarted(_, _, let audience): "started \(audience?.name ?? "main")"
            case .refreshed(_, _, let audience): "refreshed \(audience?.name ?? "main")"
            case .refreshFailed(_, _, _, let audience): "failed \(audience?.name ?? "main")"
            default: ""
            }
        }
        #expect(
            audiences.filter { !$0.isEmpty } == [
                "started files", "refreshed files", "started mail", "failed mail", "started main", "refreshed main",
            ])
    }

    @Test func `G10: the pause after a refused audience is its own`() {
        var script = MachineScript.signedIn(audiences: both)
        _ = script.ask(1, for: .files)
        _ = script.respond(TokenRefreshError(.audienceRefused, retryAfter: .seconds(20), status: 400))
        #expect(script.ask(2, for: .files) == ["2: refreshUnavailable"])
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.finish() == ["3: signed in ada"])
        #expect(script.ask(4, for: .files) == ["4: refreshUnavailable"])
        #expect(script.ask(5, for: .mail) == ["call g1 for mail"])
        _ = script.finish()
        _ = script.pass(.seconds(20))
        #expect(script.ask(6, for: .files) == ["call g2 for files"])
    }

    @Test func `G6: a request that waits for the end of a short pause of its audience continues with it`() {
        var script = MachineScript.signedIn(audiences: both)
        _ = script.ask(1, for: .files)
        #expect(script.respond(refused) == ["1: refreshUnavailable"])
        #expect(script.ask(2, for: .files) == [])
        #expect(script.pass(.seconds(2)) == ["call g0 for files"])
    }

    @Test func `a refused main token leaves the other audiences`() {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.refresh(1) == ["call g0"])
        #expect(script.ask(2, for: .mail) == [])
        #expect(script.respond(refused) == ["1: refreshUnavailable", "call g0 for mail"])
        #expect(script.machine.status.lastFailure?.code == .audienceRefused)
    }

    @Test func `a token of an audience that cannot be used pauses that audience only`() {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        #expect(script.refresh(2) == [])
        _ = script.respond(accessToken: "\n")
        #expect(script.wrote() == ["1: refreshUnavailable", "call g1"])
        #expect(script.finish() == ["2: signed in ada"])
    }

    // MARK: Sessions

    @Test func `G32: a step-up drops the tokens of other audiences, and a waiting request asks for one anew`() throws {
        var script = MachineScript.signedIn(audiences: both)
        let subject = AuthorizationServer.subject(of: "ada")
        var tokens = TokenRefreshResult(
            accessToken: "access-ada-0", refreshToken: "refresh-ada-0", expiresIn: .seconds(3_600), subject: subject)
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 1)))
        _ = script.wrote()
        _ = script.ask(2, for: .files)
        _ = script.finish()
        let files = try #require(filesToken(script))
        (tokens.accessToken, tokens.refreshToken) = ("access-new", "refresh-new")
        #expect(script.send(.stepUp(tokens, SessionID(rawValue: "x"), WaiterID(number: 3))) == ["save ada g2"])
        #expect(script.refused(4, TokenRefusal(of: files)) == [])
        #expect(script.wrote() == ["3: done", "call g2 for files"])
        #expect(script.lastRequest?.refreshToken == "refresh-new")
        #expect(script.machine.current?.bundle.audienceTokens.isEmpty == true)
    }

    @Test func `a sign-in starts without tokens of other audiences`() {
        var script = withFiles()
        _ = script.signIn(2, as: "bob")
        _ = script.wrote()
        #expect(script.machine.current?.bundle.audienceTokens.isEmpty == true)
        #expect(filesToken(script) == nil)
        #expect(script.ask(3, for: .files) == ["call g0 for files"])
    }

    @Test func `G23: a request for an audience fails with its session`() throws {
        var script = withFiles()
        let refusal = TokenRefusal(of: try #require(filesToken(script)))
        #expect(script.ask(2, for: .mail) == ["call g1 for mail"])
        #expect(script.signOut(3).contains("2: sessionEnded"))
        #expect(script.refused(4, refusal) == ["4: sessionEnded"])
        #expect(script.ask(5, for: .files) == ["5: notSignedIn"])
    }

    @Test func `a session that is restored has the tokens of the listed audiences`() {
        let bundle = withFiles().machine.current?.bundle
        for audiences in [[.files], []] as [Set<TokenAudience>] {
            var script = MachineScript(audiences: audiences)
            _ = script.send(.requested(.restore, WaiterID(number: 1)))
            _ = script.loaded(.success(bundle.map { .active($0) } ?? .empty))
            #expect((filesToken(script) != nil) == audiences.contains(.files))
            #expect(script.machine.current?.bundle.audienceTokens.count == 1)
        }
    }
}
