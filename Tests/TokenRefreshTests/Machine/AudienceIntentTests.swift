import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// Rule 4 with several audiences: a call with a key asks for the audience of its intent, in every process.
@Suite struct AudienceIntentTests {
    private let other = ProcessIdentity(host: "host", process: "p2")
    private let both: Set<TokenAudience> = [.files, .mail]

    /// A session whose last refresh was for an audience, by a process that is dead.
    private func crashed(
        _ script: MachineScript, _ audience: TokenAudience?, failure: RefreshIntent.Failure? = nil
    ) -> TokenBundle {
        .stored("ada", 0).with(
            refreshIntent: RefreshIntent(
                idempotencyKey: "key", owner: other, date: script.date - 1, failure: failure, audience: audience))
    }

    private func started(_ audiences: Set<TokenAudience>, isShared: Bool = false) -> MachineScript {
        var script = MachineScript(isShared: isShared, audiences: audiences)
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        _ = script.loaded(.success(.active(crashed(script, .files))))
        return script
    }

    @Test(arguments: [false, true])
    func `G12: a lost call of an earlier run is made again for its own audience, and then comes the wanted one`(
        isShared: Bool
    ) throws {
        var script = started(both, isShared: isShared)
        let calls = { (script: inout MachineScript) in
            isShared ? script.leased(reading: self.crashed(script, .files)) : []
        }
        #expect(script.refresh(2) == [isShared ? "lease" : "call g0 for files"])
        if isShared { #expect(calls(&script) == ["call g0 for files"]) }
        #expect(script.lastRequest?.idempotencyKey == "key")
        _ = script.respond()
        if isShared {
            #expect(script.wrote() == ["reread"])
            let stored = try #require(script.machine.current?.bundle)
            #expect(script.reread(stored) == ["call g1"])
        } else {
            #expect(script.wrote() == ["call g1"])
        }
        #expect(script.lastRequest?.idempotencyKey != "key")
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        #expect(script.machine.current?.bundle.value(for: .files) == "files-ada-1")
        #expect(script.machine.current?.bundle.accessToken == "access-ada-0")
    }

    @Test func `G12: an intent without an audience is one of the main token`() {
        var script = MachineScript(audiences: both)
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        _ = script.loaded(.success(.active(crashed(script, nil))))
        #expect(script.ask(2, for: .files) == ["call g0"])
        #expect(script.lastRequest?.idempotencyKey == "key")
        _ = script.respond()
        #expect(script.wrote() == ["call g1 for files"])
    }

    @Test(arguments: [TokenRefreshError(.unavailable), TokenRefreshError(.unavailable, status: 502)])
    func `G12: a call whose response may still come is completed before one for another audience`(
        error: TokenRefreshError
    ) throws {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        let key = try #require(script.lastRequest?.idempotencyKey)
        _ = script.respond(error)
        _ = script.pass(.seconds(60))
        #expect(script.ask(2, for: .mail) == ["call g0 for files"])
        #expect(script.lastRequest?.idempotencyKey == key)
        #expect(script.finish() == ["call g1 for mail"])
        #expect(script.lastRequest?.idempotencyKey != key)
    }

    @Test func `G12: after a refusal that spent nothing another audience is called for, with a key of its own`() throws
    {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        let key = try #require(script.lastRequest?.idempotencyKey)
        _ = script.respond(TokenRefreshError(.unavailable, status: 429))
        _ = script.pass(.seconds(60))
        #expect(script.ask(2, for: .mail) == ["call g0 for mail"])
        #expect(script.lastRequest?.idempotencyKey != key)
    }

    @Test func `G8: a late response brings the token of the audience that its call asked for`() throws {
        var script = MachineScript.signedIn(audiences: both)
        #expect(script.ask(1, for: .files) == ["call g0 for files"])
        let call = script.call
        _ = script.pass(.seconds(131))
        _ = script.wrote()
        #expect(script.ask(2, for: .mail) == ["call g0 for files"])
        _ = script.respond(
            TokenRefreshResult(accessToken: "late", refreshToken: "refresh-ada-1"), call: call)
        _ = script.wrote()
        #expect(script.machine.current?.bundle.value(for: .files) == "late")
        #expect(script.machine.current?.bundle.accessToken == "access-ada-0")
    }

    // MARK: A handler that lists less

    @Test func `the access token of an audience that is not listed is never used, and nobody is signed out`() throws {
        var script = started([])
        #expect(script.refresh(2) == ["call g0"])
        #expect(script.lastRequest?.idempotencyKey == "key")
        // A server that honours the key returns its first result: a token for the files.
        let first = TokenRefreshResult(
            accessToken: "files-ada-1", refreshToken: "refresh-ada-1", expiresIn: .seconds(3_600))
        _ = script.respond(first)
        #expect(script.machine.readyToken(at: script.uptime)?.value != "files-ada-1")
        #expect(script.wrote() == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        #expect(script.lastRequest?.idempotencyKey != "key")
        #expect(script.finish() == ["2: signed in ada"])
        #expect(script.machine.current?.bundle.accessToken == "access-ada-2")
        #expect(script.machine.current?.bundle.audienceTokens.isEmpty == true)
    }

    // MARK: A pause that another process has stored

    @Test func `G10: the stored pause of one audience holds for that audience only, and the key with it`() {
        var script = MachineScript(audiences: both)
        _ = script.send(.requested(.restore, WaiterID(number: 1)))
        var failure = RefreshIntent.Failure(date: script.date - 1, pause: .seconds(20), status: 400)
        failure.isOfAudience = true
        _ = script.loaded(.success(.active(crashed(script, .files, failure: failure))))
        #expect(script.ask(2, for: .files) == ["2: refreshUnavailable"])
        #expect(script.refresh(3) == ["call g0"])
        #expect(script.lastRequest?.idempotencyKey != "key")
    }

    @Test func `G10: under the lease the stored pause of an audience fails its requests only`() {
        var script = MachineScript.signedIn(isShared: true, audiences: both)
        var failure = RefreshIntent.Failure(date: script.date, pause: .seconds(20), status: 400)
        failure.isOfAudience = true
        let stored = crashed(script, .files, failure: failure)
        #expect(script.ask(1, for: .files) == ["lease"])
        #expect(script.ask(2, for: .mail) == [])
        #expect(script.leased(reading: stored) == ["1: refreshUnavailable", "reread"])
        #expect(script.reread(stored) == ["call g0 for mail"])
    }

    // MARK: Adoption

    /// A bundle as another process has stored it, with a token for the files.
    private func stored(_ generation: Int, files: String?) -> TokenBundle {
        let token = files.map { AccessToken(value: $0, generation: generation) }
        return TokenBundle(
            accessToken: "access-ada-0", refreshToken: "refresh-ada-\(generation)",
            session: SessionID(rawValue: "ada"), generation: generation,
            audienceTokens: token.map { [.files: $0] } ?? [:], accessGeneration: 0)
    }

    @Test func `G13: the token of another process is adopted for its audience, and no call is made`() {
        var script = MachineScript.signedIn(isShared: true, audiences: both)
        #expect(script.ask(1, for: .files) == ["lease"])
        #expect(script.leased(reading: stored(1, files: "new")) == ["1: ada g1 for files", "release"])
    }

    @Test func `G4: a token of another process that no request can carry is refreshed, and the others are used`() {
        var script = MachineScript.signedIn(isShared: true, audiences: both)
        #expect(script.refused(1, generation: 0) == ["lease"])
        #expect(script.ask(2, for: .files) == [])
        let unusable = AccessToken(value: "line\nfeed", generation: 1)
        let found = TokenBundle(
            accessToken: "access-ada-1", refreshToken: "refresh-ada-1", session: SessionID(rawValue: "ada"),
            generation: 1, audienceTokens: [.files: unusable])
        #expect(script.leased(reading: found) == ["1: ada g1", "reread"])
        #expect(script.reread(found) == ["call g1 for files"])
    }

    @Test func `G13: a newer bundle that brings nothing for the wanted audience does not replace the call`() {
        var script = MachineScript.signedIn(isShared: true, audiences: both)
        let main = script.token(0)
        let before = script.machine.current?.expiry
        _ = script.pass(.seconds(60))
        #expect(script.refused(1, TokenRefusal(of: main)) == ["lease"])
        #expect(script.ask(2, for: .files) == [])
        #expect(script.leased(reading: stored(1, files: "new")) == ["call g1"])
        #expect(script.lastRequest?.refreshToken == "refresh-ada-1")
        // What this process knows of a token stays while the token does.
        #expect(script.machine.current?.expiry == before)
        _ = script.respond()
        #expect(script.wrote() == ["1: ada g2", "2: ada g2 for files", "release"])
    }

    @Test func `G13: tokens of two processes with one generation and other audiences are not the same`() {
        var script = MachineScript.signedIn(isShared: true, audiences: both)
        _ = script.ask(1, for: .mail)
        _ = script.leased(reading: .stored("ada", 0))
        _ = script.respond()
        #expect(script.storeFails() == ["1: ada g1 for mail"])
        // The other process has refreshed the same bundle: what every process can read is used.
        #expect(script.changed(to: .active(stored(1, files: "new"))) == ["release"])
        #expect(stored(1, files: "new").displaces(stored(1, files: "old")))
        #expect(!stored(1, files: "new").hasSameTokens(as: stored(1, files: "old")))
    }
}
