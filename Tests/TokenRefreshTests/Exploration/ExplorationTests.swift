import Foundation
import Testing

@testable import TokenRefresh

/// Rules 1 to 8 between two processes: every interleaving within bounds, not a sample of them.
///
/// `make explore` walks further, and takes `BOUNDS`, as in `make explore BOUNDS="refresh=3 pause=2 crash=1 faults=1"`.
@Suite struct ExplorationTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// What is walked with every run of the tests.
    private static let small = [
        ExplorationBounds(
            faults: 1, [.refresh: 2, .pause: 1, .crash: 1, .slow: 1, .lost: 1, .limit: 1, .failure: 1, .suspension: 1]
        ),
        ExplorationBounds(faults: 0, [.request: 1, .check: 1, .signIn: 1]),
        ExplorationBounds(faults: 0, [.refresh: 1, .check: 1, .signOut: 1]),
        ExplorationBounds(faults: 2, [.refresh: 1, .signIn: 1, .pause: 1, .misreport: 1, .failure: 1]),
        ExplorationBounds(faults: 1, [.refresh: 2, .signOut: 1, .failure: 1, .limit: 1]),
        ExplorationBounds(faults: 3, [.refresh: 1, .pause: 1, .suspension: 1, .failure: 1, .lost: 1]),
        ExplorationBounds(faults: 1, [.refresh: 2, .pause: 1, .cut: 1]),
        ExplorationBounds(faults: 1, [.refresh: 2, .pause: 2, .busy: 1]),
        ExplorationBounds(faults: 2, [.refresh: 1, .pause: 2, .busy: 1, .crash: 1]),
        ExplorationBounds(faults: 1, [.refresh: 2, .pause: 1, .removal: 1]),
    ]

    /// What is walked on demand.
    private static let large = [
        ExplorationBounds(
            faults: 2, [.refresh: 2, .pause: 2, .crash: 1, .slow: 1, .lost: 1, .limit: 1, .failure: 1]
        ),
        ExplorationBounds(
            faults: 3, [.refresh: 2, .pause: 2, .crash: 1, .slow: 1, .lost: 1, .limit: 1]
        ),
        ExplorationBounds(
            faults: 1,
            [.refresh: 3, .pause: 2, .crash: 1, .slow: 1, .lost: 1, .limit: 1, .failure: 1, .suspension: 1, .cut: 1]
        ),
        ExplorationBounds(
            faults: 1,
            [
                .refresh: 2, .check: 1, .signOut: 1, .pause: 1, .crash: 1, .slow: 1, .lost: 1, .failure: 1,
                .suspension: 1,
            ]
        ),
        ExplorationBounds(
            faults: 1, [.refresh: 1, .request: 1, .check: 1, .signIn: 1, .pause: 1, .crash: 1, .slow: 1, .failure: 1]
        ),
        ExplorationBounds(faults: 0, [.refresh: 1, .check: 1, .signIn: 1, .signOut: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .check: 1, .signIn: 1, .pause: 1, .misreport: 1, .failure: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .signOut: 1, .pause: 1, .failure: 1, .slow: 1, .limit: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .pause: 2, .cut: 1, .lost: 1, .slow: 1, .failure: 1, .crash: 1]),
        ExplorationBounds(faults: 2, [.refresh: 1, .signOut: 1, .pause: 1, .cut: 2, .suspension: 1]),
        ExplorationBounds(
            faults: 3, [.refresh: 2, .pause: 2, .suspension: 1, .failure: 1, .misreport: 1, .lost: 1, .slow: 1]
        ),
        ExplorationBounds(
            faults: 2, [.refresh: 2, .pause: 2, .busy: 1, .lost: 1, .slow: 1, .crash: 1, .failure: 1, .suspension: 1]
        ),
        ExplorationBounds(faults: 2, [.refresh: 2, .pause: 2, .busy: 2, .signIn: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .pause: 2, .removal: 1, .crash: 1, .lost: 1, .slow: 1, .limit: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .pause: 1, .removal: 2, .suspension: 1, .busy: 1]),
        ExplorationBounds(faults: 2, [.refresh: 2, .pause: 1, .removal: 1, .cut: 1]),
    ]

    @Test(arguments: [false, true])
    func `Every law holds in every state of every interleaving`(honoursKeys: Bool) {
        var walks = Self.small
        if let text = Self.environment["BOUNDS"], !text.isEmpty {
            walks = [ExplorationBounds(faults: 0, [:])]
            walks[0].read(text)
        } else if Self.environment["EXPLORE"] == "large" {
            walks = Self.large
        }
        for bounds in walks {
            for hasClaims in Self.leases(of: bounds) {
                walk(bounds, ExplorationModel(honoursKeys: honoursKeys, hasClaims: hasClaims))
            }
        }
    }

    /// Only a claim can be cut, and both kinds of leases can lose what shows who holds them.
    private static func leases(of bounds: ExplorationBounds) -> [Bool] {
        if bounds.includes(.cut) { return [true] }
        return bounds.includes(.removal) ? [false, true] : [false]
    }

    private func walk(_ bounds: ExplorationBounds, _ model: ExplorationModel) {
        var explorer = Explorer(model: model, bounds: bounds)
        explorer.limit = Self.environment["STATES"].flatMap(Int.init) ?? explorer.limit
        let start = ContinuousClock.now
        let report = explorer.run()
        let keys = (model.honoursKeys ? "keys" : "no keys") + (model.hasClaims ? ", claims" : "")
        print(
            "exploration: \(report.states) states\(report.isCutShort ? " and more" : ""), \(report.steps) steps,",
            "depth \(report.depth), \((ContinuousClock.now - start) / .seconds(1)) s: \(keys), \(bounds)"
        )
        fflush(nil)
        if let summary = report.summary { Issue.record("\(summary)") }
    }

    @Test(arguments: BrokenWorld.all)
    func `A faulty store or server is found, with a shortest counterexample`(world: BrokenWorld) throws {
        let report = Explorer(model: world.model, bounds: world.bounds).run()
        let summary = try #require(report.summary, "no law is broken in \(report.states) states")
        #expect(summary.law == world.law, "\(summary)")
        #expect(summary.lines.count == world.length, "\(summary)")
        #expect(summary.lines.last == world.lastLine, "\(summary)")
    }

    @Test func `A world and its mirror image are one state`() {
        let bounds = ExplorationBounds(faults: 0, [.refresh: 2, .signOut: 1])
        var first = ExploredWorld(ExplorationModel(), bounds)
        var second = first
        for slot in [0, 1] {
            first.take(.requestsRefresh(slot))
            second.take(.requestsRefresh(1 - slot))
            #expect(first.fingerprint == second.fingerprint)
        }
        first.take(.signsOut(0))
        #expect(first.fingerprint != second.fingerprint)
    }
}

/// A model that lacks what a rule relies on.
struct BrokenWorld: CustomTestStringConvertible, Sendable {
    let model: ExplorationModel
    let bounds: ExplorationBounds
    let law: ProtocolLaw
    let length: Int
    let lastLine: String

    var testDescription: String { (model.flaw.map { "\($0)" } ?? "") + (model.hasClaims ? ", claims" : "") }

    static let all = [
        BrokenWorld(
            model: ExplorationModel(flaw: .leaseIsGivenTwice),
            bounds: ExplorationBounds(faults: 0, [.refresh: 2]),
            law: .oneCall,
            length: 12,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(honoursKeys: true, flaw: .serverForgetsKeys),
            bounds: ExplorationBounds(faults: 1, [.refresh: 1, .lost: 1]),
            law: .reuseWithKeys,
            length: 9,
            lastLine: "the server processes p0's call with r0: takes the re-use of r0 for theft"
        ),
        BrokenWorld(
            model: ExplorationModel(flaw: .writesOverEverything),
            bounds: ExplorationBounds(faults: 0, [.refresh: 1, .signOut: 1]),
            law: .signOutIsFinal,
            length: 7,
            lastLine: "the store does p0's intent for r0"
        ),
        BrokenWorld(
            model: ExplorationModel(flaw: .marksAreLost),
            bounds: ExplorationBounds(faults: 1, [.refresh: 2, .suspension: 1]),
            law: .oneCall,
            length: 15,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(hasClaims: true, flaw: .cutLeaseIsProof),
            bounds: ExplorationBounds(faults: 1, [.refresh: 2, .cut: 1]),
            law: .oneCall,
            length: 13,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(flaw: .freeLeaseIsProof),
            bounds: ExplorationBounds(faults: 1, [.refresh: 2, .removal: 1]),
            law: .oneCall,
            length: 13,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(hasClaims: true, flaw: .freeLeaseIsProof),
            bounds: ExplorationBounds(faults: 1, [.refresh: 2, .removal: 1]),
            law: .oneCall,
            length: 13,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(flaw: .failuresAreLost),
            bounds: ExplorationBounds(faults: 1, [.refresh: 2, .busy: 1]),
            law: .pause,
            length: 16,
            lastLine: "p1 gets the result of its intent for r0: calls with r0"
        ),
        BrokenWorld(
            model: ExplorationModel(flaw: .intentsAreLost),
            bounds: ExplorationBounds(faults: 0, [.refresh: 1]),
            law: .intent,
            length: 6,
            lastLine: "p0 gets the result of its intent for r0: calls with r0"
        ),
    ]
}
