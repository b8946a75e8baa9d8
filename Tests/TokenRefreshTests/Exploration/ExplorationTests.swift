import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// Rules 1 to 10 between two processes: every interleaving within bounds, not a sample of them.
///
/// `make explore` walks further, and takes `BOUNDS`, as in `make explore BOUNDS="refresh=3 pause=2 crash=1 faults=1"`,
/// and `KEYS=true` or `false`: with or without idempotency keys only, so that the two can run side by side.
@Suite(.ownThread) struct ExplorationTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// What is walked with every run of the tests.
    private static let small = [
        "refresh=2 pause=1 crash=1 slow=1 lost=1 limit=1 failure=1 suspension=1 faults=1",
        "request=1 check=1 signIn=1",
        "refresh=1 check=1 signOut=1",
        "refresh=1 signIn=1 pause=1 misreport=1 failure=1 faults=2",
        "refresh=2 signOut=1 failure=1 limit=1 faults=1",
        "refresh=1 pause=1 suspension=1 failure=1 lost=1 faults=3",
        "refresh=2 pause=1 cut=1 faults=1",
        "refresh=2 pause=2 busy=1 faults=1",
        "refresh=1 pause=2 busy=1 crash=1 faults=2",
        "refresh=2 pause=1 removal=1 faults=1",
        "refresh=2 pause=1 freeze=1 faults=1",
        "refresh=2 pause=1 signOut=1 cached=1 faults=1",
    ]

    /// What is walked on demand.
    private static let large = [
        "refresh=2 pause=2 crash=1 slow=1 lost=1 limit=1 failure=1 faults=2",
        "refresh=2 pause=2 crash=1 slow=1 lost=1 limit=1 faults=3",
        "refresh=3 pause=2 crash=1 slow=1 lost=1 limit=1 failure=1 suspension=1 cut=1 faults=1",
        "refresh=2 check=1 signOut=1 pause=1 crash=1 slow=1 lost=1 failure=1 suspension=1 faults=1",
        "refresh=1 request=1 check=1 signIn=1 pause=1 crash=1 slow=1 failure=1 faults=1",
        "refresh=1 check=1 signIn=1 signOut=1",
        "refresh=2 check=1 signIn=1 pause=1 misreport=1 failure=1 faults=2",
        "refresh=2 signOut=1 pause=1 failure=1 slow=1 limit=1 faults=2",
        "refresh=2 pause=2 cut=1 lost=1 slow=1 failure=1 crash=1 faults=2",
        "refresh=1 signOut=1 pause=1 cut=2 suspension=1 faults=2",
        "refresh=2 pause=2 suspension=1 failure=1 misreport=1 lost=1 slow=1 faults=3",
        "refresh=2 pause=2 busy=1 lost=1 slow=1 crash=1 failure=1 suspension=1 faults=2",
        "refresh=2 pause=2 busy=2 signIn=1 faults=2",
        "refresh=2 pause=2 removal=1 crash=1 lost=1 slow=1 limit=1 faults=2",
        "refresh=2 pause=1 removal=2 suspension=1 busy=1 faults=2",
        "refresh=2 pause=1 removal=1 cut=1 faults=2",
        "refresh=2 pause=2 freeze=1 suspension=1 lost=1 slow=1 faults=2",
        "refresh=2 pause=2 freeze=2 crash=1 limit=1 faults=2",
        "refresh=2 pause=2 cached=2 crash=1 lost=1 signOut=1 faults=2",
    ]

    /// Servers with and without idempotency keys, or the one of the two that `KEYS` names.
    private static let keys = environment["KEYS"].flatMap(Bool.init).map { [$0] } ?? [false, true]

    @Test(arguments: keys)
    func `Every law holds in every state of every interleaving`(honoursKeys: Bool) {
        for bounds in Self.walks(Self.small, large: Self.large) {
            for hasClaims in Self.leases(of: bounds) {
                walk(bounds, ExplorationModel(honoursKeys: honoursKeys, hasClaims: hasClaims))
            }
        }
    }

    /// What is walked around sign-ins and sign-outs (G30, rule 10).
    private static let acts = [
        "signOut=1 failure=1 crash=1 pause=1 journal=1 faults=2",
        "signOut=1 vanish=1 crash=1 check=1 faults=2",
        "signIn=1 failure=1 crash=1 pause=1 faults=2",
    ]

    /// A walk around both. It has a million states with a journal beside a store that is empty.
    private static let bothActs = "signIn=1 signOut=1 crash=1 faults=1"

    /// What is walked around them on demand.
    private static let largeActs =
        acts + [
            bothActs,
            "signIn=1 signOut=2 check=1 failure=1 faults=1",
            "signIn=2 failure=1 misreport=1 crash=1 pause=1 faults=2",
            "signIn=2 signOut=1 failure=1 crash=1 faults=2",
            "signIn=2 vanish=1 crash=1 faults=2",
            "signIn=1 refresh=1 signOut=1 failure=1 faults=1",
        ]

    @Test(arguments: [
        ExplorationModel(hasJournal: true), ExplorationModel(hasJournal: true, startsEmpty: true),
        ExplorationModel(startsEmpty: true),
    ])
    func `G30: every law holds around sign-ins and sign-outs, with any failure and any kill`(model: ExplorationModel) {
        let small = model.hasJournal && model.startsEmpty ? Self.acts : Self.acts + [Self.bothActs]
        for bounds in Self.walks(small, large: Self.largeActs) { walk(bounds, model) }
    }

    private static func walks(_ small: [String], large: [String]) -> [String] {
        let asked = environment["BOUNDS"].flatMap { $0.isEmpty ? nil : [$0] }
        return asked ?? (environment["EXPLORE"] == "large" ? large : small)
    }

    /// Only a claim can be cut. Both kinds of leases can lose what shows who holds them, and have owners that stop.
    private static func leases(of text: String) -> [Bool] {
        let bounds = ExplorationBounds(text)
        if bounds.includes(.cut) { return [true] }
        return bounds.includes(.removal) || bounds.includes(.freeze) ? [false, true] : [false]
    }

    private func walk(_ bounds: String, _ model: ExplorationModel) {
        var explorer = Explorer(model: model, bounds: ExplorationBounds(bounds))
        explorer.limit = Self.environment["STATES"].flatMap(Int.init) ?? explorer.limit
        let start = ContinuousClock.now
        let report = explorer.run()
        print(
            "exploration: \(report.states) states\(report.isCutShort ? " and more" : ""), \(report.steps) steps,",
            "depth \(report.depth), \((ContinuousClock.now - start) / .seconds(1)) s: \(model), \(bounds)"
        )
        fflush(nil)
        if let broken = report.broken { Issue.record("\(broken.world.dump)") }
    }

    /// Models that lack what a rule relies on, and the length of the shortest history in which a law notices.
    private static let broken: [(ExplorationModel, String, Law, Int)] = [
        (.init(flaw: .leaseIsNotExclusive), "refresh=2", .leased, 8),
        (.init(honoursKeys: true, flaw: .keysAreForgotten), "refresh=1 lost=1 faults=1", .keys, 9),
        (.init(flaw: .writesAreBlind), "refresh=1 signOut=1", .revival, 7),
        (.init(flaw: .subjectsAreNotSaid), "refresh=1 cached=1 faults=1", .subject, 7),
        (.init(hasJournal: true, flaw: .endingsAreNotNoted), "signOut=1 check=1", .signedOut, 6),
        (.init(flaw: .writesAreBlind), "signIn=2", .order, 4),
    ]

    @Test(arguments: broken)
    func `A faulty store or server is found, with a shortest counterexample`(
        model: ExplorationModel, bounds: String, law: Law, length: Int
    ) throws {
        let report = Explorer(model: model, bounds: ExplorationBounds(bounds)).run()
        let broken = try #require(report.broken, "no law is broken in \(report.states) states")
        let dump = broken.world.dump
        #expect(broken.world.violation == law && broken.length == length, "\(dump)")
        #expect(dump.contains("BROKEN \(law.rawValue)"), "\(dump)")
    }
}
