import AuthInterface
import Foundation
import Testing

@testable import TokenRefresh

/// Rule 10: sign-ins have one order, and each write replaces what came before it.
@Suite struct SignInOrderTests {
    private static let ada = TokenBundle.stored("ada", 0, ordinal: .second(5))

    /// What is written of ada's session, which began at 5 and came after one at 4.
    private static let writes: [StoreContent] = [
        // A sign-in, the refresh of one that is not stored, a refresh, and one over exactly what was read.
        .bundle(ada, over: .lower(ends: .second(4))), .bundle(ada.moved(to: 1), over: .lower(ends: .second(4))),
        .bundle(ada.moved(to: 1), over: .older), .bundle(ada.moved(to: 1), over: .exactly(ada)),
        // A sign-out, an unread one, and a rejection of what is stored and of what is not.
        .tombstone(.byUser, at: Date(), of: .session(ada.session, upTo: .second(5))),
        .tombstone(.byUser, at: Date(), of: .unread(upTo: .second(5))),
        .tombstone(.expired(), at: Date(), of: .rejected(ada, replacing: nil)),
        .tombstone(.expired(), at: Date(), of: .rejected(ada, replacing: .second(4))),
    ]

    private static func bob(_ seconds: Double?) -> StoredSession {
        .active(.stored("bob", 3, ordinal: seconds.map { .second($0) }))
    }

    /// bob's session, as a version without ordinals has stored it.
    private static func formerBob(_ seconds: Double) -> StoredSession {
        .active(.stored("bob", 3, signedInAt: Date(timeIntervalSince1970: seconds)))
    }

    private static func end(of user: String, upTo seconds: Double) -> StoredSession {
        let reason = SignOutReason.application("first")
        return .tombstone(.init(session: .init(rawValue: user), reason: reason, date: Date(), upTo: .second(seconds)))
    }

    /// What a write finds, and which of the writes replace it, in their order.
    private static let contents: [(found: StoredSession?, areReplaced: String)] = [
        (bob(4), "++--++-+"), (bob(5), "----++--"), (bob(6), "--------"),
        (formerBob(4), "++--++-+"), (formerBob(6), "--------"), (bob(nil), "++--++-+"),
        (.active(ada), "++++++++"), (.active(.stored("ada", 0)), "++++++++"),
        (.active(.stored("ada", 2, ordinal: .second(5))), "----++--"), (.active(.stored("ada", 2)), "----++--"),
        (end(of: "bob", upTo: 4), "++--++--"), (end(of: "bob", upTo: 5), "--------"),
        (end(of: "bob", upTo: 6), "--------"), (end(of: "ada", upTo: 5), "--------"),
        (end(of: "ada", upTo: 0), "----++--"), (.empty, "++++++++"), (nil, "++++++++"),
    ]

    @Test func `Rule 10: a write replaces lower ordinals of other sessions, and what is older of its own`() {
        let corrupt = TokenStoreError(.corrupt, reason: "no session")
        for (content, areReplaced) in Self.contents {
            let found = content.map { StoreResult.success($0) } ?? .failure(corrupt)
            let replaced = Self.writes.map { $0.replacement(for: found) == nil ? "-" : "+" }.joined()
            #expect(replaced == areReplaced, "\(found)")
        }
        let (old, new) = (TokenBundle.stored("bob", 0, ordinal: .last), TokenBundle.stored("ada", 0, ordinal: .last))
        let signIn = StoreContent.bundle(new, over: .lower(ends: .last))
        #expect(signIn.replacement(for: .success(.active(old))) == .active(new), "the last ordinal locks no user out")
    }

    @Test func `Rule 10: an end has one reason, and reaches as far as what found it and as its session`() {
        for (write, found, reason, ordinal) in [
            (4, Self.end(of: "ada", upTo: 0), SignOutReason.application("first"), 5.0),
            (5, Self.end(of: "bob", upTo: 4), .application("first"), 5), (4, Self.end(of: "bob", upTo: 4), .byUser, 5),
            (4, .active(.stored("ada", 2, ordinal: .second(7))), .byUser, 7), (5, Self.bob(4), .byUser, 5),
        ] {
            guard case .tombstone(let end)? = Self.writes[write].replacement(for: .success(found)) else {
                Issue.record("\(found) stays")
                continue
            }
            #expect(end.reason == reason && end.ordinal == .second(ordinal), "\(found): \(end)")
        }
    }

    // MARK: The ordinals of a process

    @Test func `Rule 10: a sign-in ends all that was read before it, or else what came before it`() throws {
        let last = try #require(SessionOrdinal(rawValue: 1 << 53))
        let now = SessionOrdinal.second(10)
        let rows: [(stored: StoredSession?, noted: SessionOrdinal?, ordinal: SessionOrdinal, ends: SessionOrdinal?)] = [
            (nil, nil, now, now.previous), (.empty, nil, now, nil), (Self.bob(nil), nil, now, .unknown),
            (Self.bob(7), nil, now, .second(7)), (Self.bob(7), .second(8), now, .second(8)),
            (nil, .second(8), now, .second(8)), (Self.end(of: "bob", upTo: 8), .second(7), now, .second(8)),
            // The clock was set back, or that of another host is ahead.
            (Self.bob(86_400), nil, SessionOrdinal.second(86_400).next, .second(86_400)),
            (nil, last, last, last),
        ]
        for row in rows {
            var order = SignInOrder()
            order.learn(row.stored, journal: row.noted)
            var signedOut = order
            // The end of what has no ordinal is told from that of an earlier version.
            let end = max(row.ends ?? .unknown, .unknown.next)
            #expect(signedOut.end(at: Date(timeIntervalSince1970: 10)) == end, "\(row)")
            let (ordinal, ends) = order.begin(at: Date(timeIntervalSince1970: 10))
            #expect(ordinal == row.ordinal && ends == row.ends, "\(row)")
            let next = order.begin(at: Date(timeIntervalSince1970: 5))
            #expect(next.ordinal == ordinal.next && next.ends == ordinal, "the clock was set back")
        }
    }

    @Test func `Rule 10: a refresh and an adoption keep the ordinal and the date of the sign-in`() throws {
        var script = MachineScript.calling()
        let (ordinal, date) = (SessionOrdinal(at: script.date), script.date)
        #expect(script.respond(after: .seconds(20)) == ["save ada g1"])
        #expect(script.lastContent?.bundle?.ordinal == ordinal && script.lastContent?.bundle?.signedInAt == date)
        _ = script.wrote()
        _ = script.changed(to: .active(.stored("ada", 2)))
        #expect(script.machine.current?.bundle.storedOrdinal == ordinal, "an earlier version drops it")
    }

    @Test(arguments: [true, false])
    func `Rule 10: a sign-in replaces what was read before it by any clock, and no other`(isRead: Bool) {
        var script = MachineScript(isShared: true)
        let ordinal = SessionOrdinal(at: script.date + 86_400)
        let bob = StoredSession.active(.stored("bob", 0, ordinal: ordinal))
        script.readOrder(isRead ? .success(bob) : .failure(.locked))
        #expect(script.signIn(1, as: "ada") == ["save ada g0"])
        #expect(script.replaces(bob) == isRead)
        guard !isRead else { return }
        let actions = script.wrote(.superseded(by: bob))
        #expect(actions.contains("signed in bob") && actions.contains("revoke only ada g0"))
        #expect(script.signIn(2, as: "cleo").first == "save cleo g0")
        #expect(script.lastContent?.bundle?.ordinal == ordinal.next, "it has been found")
    }

    @Test func `Rule 10: a sign-in that is tried again, or waits behind a failed write, follows a later one`() {
        var again = MachineScript(isShared: true)
        _ = again.signIn(1, as: "ada", isStored: false)
        #expect(again.pass(.seconds(1)) == ["save ada g0"])
        var behind = MachineScript(isShared: true)
        _ = behind.signIn(1, as: "carol")
        let first = behind.lastWrite
        _ = behind.signIn(2, as: "ada")
        #expect(behind.wrote(.failed(.locked), version: first).contains("save ada g0"))
        for var script in [again, behind] {
            #expect(script.wrote(.superseded(by: Self.bob(3e9))).contains("signed in bob"))
            #expect(script.pass(.seconds(300)) == [], "ada comes back")
        }
    }

    @Test func `Rule 10: a session that the user has left does not come back, though the clock was set back`() throws {
        var script = MachineScript.signedIn(isShared: true)
        let left = try #require(script.machine.current?.bundle)
        script.date -= 86_400
        _ = script.signIn(1, as: "bob", isStored: false)
        #expect(script.pass(.seconds(1)) == ["save bob g0"])
        #expect(script.lastContent?.replacement(for: .success(.active(left)))?.bundle?.session.rawValue == "bob")
        _ = script.storeFails()
        #expect(script.signOut(2).first == "delete")
        #expect(script.replaces(left))
    }

    @Test func `Rule 10: a sign-out ends no later sign-in than the one that this process has stored`() {
        var script = MachineScript.signedIn(isShared: true)
        _ = script.pass(.seconds(60))
        _ = script.signOut(1)
        #expect(script.lastContent?.note(isShared: true)?.ordinal == SessionOrdinal(at: script.date - 60))
    }

    @Test func `A sign-in or a sign-out that ended before its write fails only the caller of the last end`() {
        var script = MachineScript()
        _ = script.signIn(1, as: "ada")
        let save = script.lastWrite
        #expect(script.signOut(2).contains("signedOut byUser"))
        #expect(script.wrote(.failed(.locked), version: save).contains("1: done"))
        #expect(script.storeFails().contains("2: storeUnavailable"))
        var replaced = MachineScript.signedIn()
        _ = replaced.signOut(1)
        let removal = replaced.lastWrite
        _ = replaced.signIn(2, as: "bob")
        #expect(replaced.wrote(.failed(.locked), version: removal).contains("1: done"))
    }
}
