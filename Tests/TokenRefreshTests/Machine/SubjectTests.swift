import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// G31: a refresh never changes the user, nor quietly what the user may do.
@Suite struct SubjectTests {
    private let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")
    private let eve = TokenSubject(issuer: "https://issuer.example", id: "eve")

    private func tokens(_ name: String, of subject: TokenSubject?, scope: String? = nil) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: "access-\(name)", refreshToken: "refresh-\(name)", expiresIn: .seconds(3_600),
            subject: subject, scope: scope)
    }

    /// A script in which ada is signed in and has called.
    private func calling(
        as subject: TokenSubject?, scope: String? = nil, isShared: Bool = false, tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = MachineScript(isShared: isShared, tolerance: tolerance)
        let tokens = tokens("ada-0", of: subject, scope: scope)
        _ = script.send(.signIn(tokens, SessionID(rawValue: "ada"), WaiterID(number: 900)))
        _ = script.wrote()
        _ = script.refresh(1)
        if isShared { _ = script.leased(reading: .stored("ada", 0)) }
        return script
    }

    private func ignored(_ script: MachineScript) -> Int {
        script.events.count { if case .otherSubjectIgnored = $0 { true } else { false } }
    }

    private func missing(_ script: MachineScript) -> [Set<String>] {
        script.events.compactMap { if case .scopeNarrowed(_, let missing) = $0 { missing } else { nil } }
    }

    @Test func `G31: the tokens of another subject are dropped, and the session stays as it was`() throws {
        var script = calling(as: ada)
        let (stored, key) = (script.lastContent, try #require(script.lastRequest?.idempotencyKey))
        #expect(script.respond(tokens("eve-7", of: eve)) == ["1: refreshUnavailable"])
        #expect(script.lastContent == stored, "nothing is written: the intent stays as it was recorded")
        #expect(script.machine.current?.bundle.accessToken == "access-ada-0")
        #expect(ignored(script) == 1)
        _ = script.pass(.seconds(60))
        #expect(script.refresh(2) == ["call g0"])
        #expect(script.lastRequest?.idempotencyKey == key && script.lastRequest?.refreshToken == "refresh-ada-0")
        #expect(script.respond(tokens("ada-1", of: ada)) == ["save ada g1"])
    }

    @Test func `G31: a subject that is only claimed is compared, and never recorded`() {
        for (subject, isKept) in [(eve, false), (ada, true)] {
            var script = calling(as: ada)
            var result = tokens("new-1", of: nil)
            (result.claimedSubject, result.idTokenProblem) = (subject, "it was not checked")
            #expect(script.respond(result) == (isKept ? ["save ada g1"] : ["1: refreshUnavailable"]))
            #expect(script.lastContent?.bundle?.subject == ada)
            let problems = script.events.filter { if case .idTokenIgnored = $0 { true } else { false } }
            #expect(problems.count == (isKept ? 1 : 0))
        }
        var unknown = calling(as: nil)
        var result = tokens("new-1", of: nil)
        result.claimedSubject = eve
        _ = unknown.respond(result)
        #expect(
            unknown.lastContent?.bundle?.accessToken == "access-new-1" && unknown.lastContent?.bundle?.subject == nil)
    }

    @Test func `G31: the issuer is a part of the subject`() {
        var script = calling(as: ada)
        let other = TokenSubject(issuer: "https://other.example", id: "ada")
        #expect(script.respond(tokens("ada-1", of: other)) == ["1: refreshUnavailable"])
    }

    @Test func `G31: it counts as a lost response, which is replayed where the server tolerates that`() throws {
        var script = calling(as: ada, isShared: true, tolerance: .sameKey)
        let key = try #require(script.lastRequest?.idempotencyKey)
        #expect(script.respond(tokens("eve-7", of: eve)) == ["call g0"])
        #expect(script.lastRequest?.idempotencyKey == key)
        #expect(script.respond(tokens("eve-7", of: eve)) == ["1: refreshUnavailable", "release"], "once")
    }

    @Test func `G31: after a sign-out the tokens of another subject are not revoked`() {
        for (subject, revoked) in [(eve, []), (ada, ["revoke ada g1"])] {
            var script = calling(as: ada)
            _ = script.signOut(2)
            _ = script.wrote()
            #expect(script.respond(tokens("new-1", of: subject)) == revoked)
        }
    }

    @Test func `G31: a late response of another subject is dropped, too`() {
        var script = calling(as: ada)
        #expect(script.pass(.seconds(31)) == ["1: refreshUnavailable"])
        #expect(script.respond(tokens("eve-7", of: eve)) == [])
        #expect(script.machine.current?.bundle.subject == ada)
    }

    @Test func `G31: a result without a subject keeps the session's, and one of an unknown session gives it`() {
        var script = calling(as: ada)
        _ = script.respond(tokens("ada-1", of: nil))
        #expect(script.wrote() == ["1: signed in ada"])
        #expect(script.machine.current?.bundle.subject == ada)
        var unknown = calling(as: nil)
        _ = unknown.respond(tokens("ada-1", of: ada))
        #expect(unknown.lastContent?.bundle?.subject == ada)
        _ = unknown.wrote()
        _ = unknown.refresh(2)
        #expect(unknown.respond(tokens("eve-7", of: eve)) == ["2: refreshUnavailable"])
    }

    @Test func `G31: a sign-in of another subject is a sign-in`() {
        var script = calling(as: ada)
        let other = tokens("eve-0", of: eve)
        _ = script.send(.signIn(other, SessionID(rawValue: "eve"), WaiterID(number: 2)))
        #expect(script.machine.current?.bundle.subject == eve)
    }

    // MARK: Scope

    @Test func `G31: a narrower scope than before is reported, and used`() {
        var script = calling(as: ada, scope: "read write admin")
        _ = script.respond(tokens("ada-1", of: nil, scope: "read"))
        #expect(missing(script) == [["write", "admin"]])
        #expect(script.lastContent?.bundle?.scope == "read")
        _ = script.wrote()
        #expect(script.machine.current?.bundle.accessToken == "access-ada-1")
        _ = script.send(.stepUp(tokens("high", of: ada, scope: "more"), SessionID(), WaiterID(number: 2)))
        #expect(missing(script).last == ["read"], "also by a step-up")
    }

    @Test(arguments: [nil, "", "write  read", "read write more", String(repeating: "x", count: 8_193)])
    func `G31: an omitted scope is unchanged, and one that is no narrower is no event`(scope: String?) {
        var script = calling(as: ada, scope: "read write")
        _ = script.respond(tokens("ada-1", of: nil, scope: scope))
        #expect(missing(script) == [])
        let stored = script.lastContent?.bundle?.scope
        #expect(stored == "read write" || (scope != nil && stored == scope))
    }

    @Test func `G31: what this token was asked for counts, at a sign-in too`() {
        var script = MachineScript()
        var login = tokens("ada-0", of: ada, scope: "read")
        login.requestedScope = "read write"
        _ = script.send(.signIn(login, SessionID(rawValue: "ada"), WaiterID(number: 1)))
        #expect(missing(script) == [["write"]])
        _ = script.wrote()
        _ = script.refresh(2)
        var part = tokens("ada-1", of: ada)
        part.requestedScope = "read"
        _ = script.respond(part)
        #expect(missing(script).count == 1)
        #expect(script.lastContent?.bundle?.scope == "read")
    }
}
