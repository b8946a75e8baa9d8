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

/// G34: sessions whose tokens are bound to a key.
@Suite struct BoundSessionTests {
    /// Ada has signed in with tokens that are bound to a key.
    private func signedIn(isShared: Bool = false) -> MachineScript { .known(boundTo: "key-ada", isShared: isShared) }

    private func high(_ key: String?) -> TokenRefreshResult { .issued("high", of: .ada, boundTo: key) }

    @Test func `a call is made with the binding, and the tokens keep it with the nonces of the response`() {
        var script = signedIn()
        #expect(script.refresh(1) == ["call g0"])
        #expect(script.lastRequest?.binding == TokenBinding(thumbprint: "key-ada"))
        var tokens = TokenRefreshResult.issued("ada-1")
        let nonce = ProofNonce(value: "nonce-1", date: script.date)
        tokens.binding = TokenBinding(thumbprint: "key-ada", nonces: ["https://server.example": nonce])
        _ = script.respond(tokens)
        #expect(script.lastContent?.bundle?.binding == tokens.binding)
        _ = script.wrote()
        _ = script.refresh(2)
        #expect(script.lastRequest?.binding?.nonces.values.map(\.value) == ["nonce-1"])
        // A response of a server that says nothing of it.
        _ = script.respond(TokenRefreshResult(accessToken: "access-ada-2"))
        #expect(script.lastContent?.bundle?.binding == tokens.binding)
    }

    @Test func `a key is deleted once the end of its session, or a sign-in here in its place, is stored`() {
        var script = signedIn()
        var replaced = script
        #expect(!script.signOut(1).contains("release the key key-ada"), "G5: the end is stored first")
        #expect(script.wrote().contains("release the key key-ada"))
        let actions = replaced.signIn(1, as: "bob", with: .issued("bob-0", boundTo: "key-bob"))
        #expect((actions + replaced.wrote()).contains("release the key key-ada"))
        #expect(replaced.token(0, of: "bob").binding?.thumbprint == "key-bob")

        var failing = signedIn(isShared: true)
        var followed = failing
        _ = failing.refresh(1, reading: .stored("ada", 0))
        _ = failing.rejected()
        #expect(!failing.storeFails().contains("release the key key-ada"))
        let bob = StoredSession.active(.stored("bob", 0, boundTo: "key-bob"))
        #expect(!followed.changed(to: bob).contains("release the key key-ada"), "that process deletes it")
        #expect(followed.state == "signed in bob")
    }

    @Test func `the key of a sign-in that is forestalled, or of a session that one replaces unread, is deleted here`() {
        var forestalled = MachineScript(isShared: true)
        _ = forestalled.signIn(1, as: "ada", with: .issued("ada-0", boundTo: "key-ada"))
        let actions = forestalled.wrote(.superseded(by: .active(.stored("bob", 0, boundTo: "key-bob"))))
        #expect(actions.contains("signed in bob") && actions.contains("release the key key-ada"))
        for (user, isReleased) in [("bob", true), ("ada", false)] {
            var script = MachineScript(isShared: true)
            _ = script.signIn(1, as: "new", with: .issued("new", boundTo: "key-ada"))
            let actions = script.wrote(.written(replaced: .stored(user, 3, boundTo: "key-\(user)")))
            #expect(actions.contains("release the key key-\(user)") == isReleased, "not the one in use")
        }
    }

    @Test func `G32, G34: the key that a step-up replaces is deleted once its tokens are stored, or at the end`() {
        var script = signedIn()
        _ = script.stepUp(1, with: high("key-new"))
        var failing = script
        let stored = script.wrote()
        #expect(stored.contains("release the key key-ada") && !stored.contains("release the key key-new"))
        #expect(script.machine.current?.bundle.binding?.thumbprint == "key-new")
        #expect(!script.signOut(2).contains("release the key key-ada"), "once")

        #expect(!failing.storeFails().contains("release the key key-ada"), "what is stored is bound to it")
        _ = failing.signOut(2)
        let ended = failing.wrote()
        #expect(ended.contains("release the key key-ada") && ended.contains("release the key key-new"))

        for key in ["key-ada", nil] {
            var script = signedIn()
            _ = script.stepUp(1, with: high(key))
            #expect(script.wrote().allSatisfy { !$0.contains("release") })
            #expect(script.machine.current?.bundle.binding?.thumbprint == "key-ada")
        }
    }

    @Test func `G32, G34: after a step-up that was lost, its own key is deleted, and not the one in use`() {
        var script = signedIn(isShared: true)
        let elsewhere = TokenBundle.stored("ada", 2, boundTo: "key-ada")
        _ = script.stepUp(1, with: high("key-new"), isStored: false)
        _ = script.pass(.seconds(2))
        _ = script.wrote(.superseded(by: .active(elsewhere)))
        #expect(script.machine.current?.bundle.binding?.thumbprint == "key-ada")
        #expect(script.refresh(2) == ["lease"])
        let all = script.leased(reading: elsewhere) + script.respond(.issued("3")) + script.wrote()
        #expect(all.filter { $0.hasPrefix("release the") } == ["release the key key-new"])
    }

    @Test func `G32, G34: the keys of several step-ups before one was stored are deleted`() {
        var script = signedIn()
        for (number, key) in [(1, "key-b"), (2, "key-c"), (3, "key-ada"), (4, "key-d")] {
            _ = script.stepUp(number, with: .issued("high", refreshToken: "refresh-\(key)", of: .ada, boundTo: key))
        }
        let released = Set(script.wrote() + script.wrote()).filter { $0.hasPrefix("release") }
        #expect(released == Set(["ada", "b", "c"].map { "release the key key-\($0)" }))
    }

    /// KE1: another process may have it, and its place may only be absent here.
    @Test func `a key that is not here ends nothing, is not told to other processes, and the user has a door`() {
        var script = signedIn()
        _ = script.refresh(1)
        let stored = script.lastContent
        let absent = TokenRefreshError(.userActionRequired, stepUp: StepUpChallenge(.key))
        #expect(script.notMade(absent).contains("1: stepUpRequired"))
        #expect(script.state == "signed in ada")
        #expect(script.machine.status.userAction?.demand == .key)
        #expect(script.lastIntent?.failure == nil && script.lastContent != stored)
    }

    @Test func `an ending directly after a challenge names the challenge`() {
        var script = signedIn()
        _ = script.refresh(1)
        var error = TokenRefreshError(.rejected, status: 400, serverCode: "invalid_grant")
        error.challenge = "use_dpop_nonce"
        _ = script.respond(error)
        _ = script.reread(.stored("ada", 0))
        _ = script.wrote()
        #expect(script.machine.published.ending?.challenge == "use_dpop_nonce")
        #expect(script.machine.published.ending?.description.contains("invalid_grant after use_dpop_nonce") == true)
    }
}
