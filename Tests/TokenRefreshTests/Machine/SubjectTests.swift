import AuthInterface
import Testing

@testable import TokenRefresh

/// G31: a refresh never changes the user, nor quietly what the user may do.
@Suite struct SubjectTests {
    /// A script in which ada is signed in and has called.
    private func calling(
        as subject: TokenSubject? = .ada, scope: String? = nil, isShared: Bool = false,
        tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = MachineScript.known(as: subject, scope: scope, isShared: isShared, tolerance: tolerance)
        _ = script.refresh(1, reading: .stored("ada", 0))
        return script
    }

    private func missing(_ script: MachineScript) -> [Set<String>] {
        script.events.compactMap { if case .scopeNarrowed(_, let missing) = $0 { missing } else { nil } }
    }

    @Test(arguments: [TokenSubject.eve, TokenSubject(issuer: "https://other.example", id: "ada")])
    func `G31: the tokens of another subject are dropped, and the session stays as it was`(other: TokenSubject?) {
        var script = calling()
        let (stored, key) = (script.lastContent, script.key)
        #expect(script.respond(.issued("eve-7", of: other)) == ["1: refreshUnavailable"])
        #expect(script.lastContent == stored, "nothing is written: the intent stays as it was recorded")
        #expect(script.machine.current?.bundle.accessToken == "access-ada-0")
        #expect(script.events.count { if case .otherSubjectIgnored = $0 { true } else { false } } == 1)
        #expect(script.refresh(2, after: .seconds(60)) == ["call g0"])
        #expect(script.key == key && script.lastRequest?.refreshToken == "refresh-ada-0")
        var late = script
        #expect(script.respond(.issued("ada-1", of: .ada)) == ["save ada g1"])
        #expect(late.pass(.seconds(31)) == ["2: refreshUnavailable"])
        #expect(late.respond(.issued("eve-8", of: other)) == [], "also where they come late")
        #expect(late.machine.current?.bundle.subject == .ada)
        var ended = calling()
        _ = ended.signOut(2, isStored: true)
        #expect(ended.respond(.issued("eve-8", of: other)) == [], "they are another user's, and not revoked")
        // It counts as a lost response, which is replayed once where the server tolerates that.
        var tolerant = calling(isShared: true, tolerance: .sameKey)
        let first = tolerant.key
        #expect(tolerant.respond(.issued("eve-7", of: other)) == ["call g0"])
        #expect(tolerant.key == first)
        #expect(tolerant.respond(.issued("eve-7", of: other)) == ["1: refreshUnavailable", "release"])
    }

    @Test func `G31: a subject that is only claimed is compared, and never recorded`() {
        let rows = [(TokenSubject.ada, TokenSubject.eve, false), (.ada, .ada, true), (nil, .eve, true)]
        for (known, claimed, isKept) in rows {
            var script = calling(as: known)
            var result = TokenRefreshResult.issued("new-1")
            (result.claimedSubject, result.idTokenProblem) = (claimed, "it was not checked")
            #expect(script.respond(result) == (isKept ? ["save ada g1"] : ["1: refreshUnavailable"]))
            #expect(script.lastContent?.bundle?.accessToken == (isKept ? "access-new-1" : "access-ada-0"))
            #expect(script.lastContent?.bundle?.subject == known)
            let problems = script.events.filter { if case .idTokenIgnored = $0 { true } else { false } }
            #expect(problems.count == (isKept ? 1 : 0))
        }
    }

    @Test func `G31: a result without a subject keeps the session's, and one of an unknown session gives it`() {
        for (known, new) in [(TokenSubject.ada, nil), (nil, .ada)] as [(TokenSubject?, TokenSubject?)] {
            var script = calling(as: known)
            _ = script.respond(.issued("ada-1", of: new))
            #expect(script.lastContent?.bundle?.subject == .ada)
            #expect(script.wrote() == ["1: signed in ada"])
            #expect(script.machine.current?.bundle.subject == .ada)
            _ = script.refresh(2)
            #expect(script.respond(.issued("eve-7", of: .eve)) == ["2: refreshUnavailable"])
        }
        var script = calling()
        _ = script.signIn(2, as: "eve", with: .issued("eve-0", of: .eve))
        #expect(script.machine.current?.bundle.subject == .eve, "a sign-in of another subject is a sign-in")
    }

    // MARK: Scope

    @Test func `G31: a narrower scope than before is reported, and used`() {
        var script = calling(scope: "read write admin")
        _ = script.respond(.issued("ada-1", scope: "read"))
        #expect(missing(script) == [["write", "admin"]])
        #expect(script.lastContent?.bundle?.scope == "read")
        _ = script.wrote()
        #expect(script.machine.current?.bundle.accessToken == "access-ada-1")
        _ = script.stepUp(2, with: .issued("high", of: .ada, scope: "more"))
        #expect(missing(script).last == ["read"], "also by a step-up")
    }

    @Test(arguments: [nil, "", "write  read", "read write more", String(repeating: "x", count: 8_193)])
    func `G31: an omitted scope is unchanged, and one that is no narrower is no event`(scope: String?) {
        var script = calling(scope: "read write")
        _ = script.respond(.issued("ada-1", scope: scope))
        #expect(missing(script) == [])
        let stored = script.lastContent?.bundle?.scope
        #expect(stored == "read write" || (scope != nil && stored == scope))
    }

    @Test func `G31: what this token was asked for counts, at a sign-in too`() {
        var script = MachineScript()
        var login = TokenRefreshResult.issued("ada-0", of: .ada, scope: "read")
        login.requestedScope = "read write"
        _ = script.signIn(1, as: "ada", with: login)
        #expect(missing(script) == [["write"]])
        _ = script.wrote()
        _ = script.refresh(2)
        var part = TokenRefreshResult.issued("ada-1", of: .ada)
        part.requestedScope = "read"
        _ = script.respond(part)
        #expect(missing(script).count == 1)
        #expect(script.lastContent?.bundle?.scope == "read")
    }
}
