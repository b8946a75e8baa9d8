import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// What a world is like. It follows from one seed, or from what is explored, whose worlds share it.
final class WorldPlan: Sendable {
    /// What keeps the processes of a shared store apart.
    enum Lease: Sendable {
        /// A lock that the system releases when its owner dies.
        case lock
        /// A claim that expires when its owner does not renew it for this time, in milliseconds.
        case claim(Int)

        var claimTime: Int? { if case .claim(let time) = self { time } else { nil } }
    }

    /// How the authorization server treats refresh tokens.
    struct Server: Sendable {
        /// Whether a spent refresh token that comes again ends the whole family.
        var revokesOnReuse = true
        /// How long a spent refresh token still returns its successor, in milliseconds.
        var grace = 0
        /// Whether a use within the grace window returns another successor instead of the same one.
        var branches = false
        /// Whether a rotation kills the older access tokens.
        var isStrict = false
        var rotates = true
        /// How long access tokens are good, in milliseconds. `nil`: until they are revoked.
        var lifetime: Int?
        var saysLifetime = true
        var saysDate = true
        /// How far the server's clock is ahead of the true time, in seconds.
        var skew: TimeInterval = 0.125
        var takesRevocations = true
        /// How often a refresh brings an access token that no header field can carry, in percent.
        var unusableTokens = 0
        var givesRefreshTokens = true
        /// Whether the server repeats its result for the same idempotency key (rule 6).
        var honoursKeys = false
        /// Whether a revocation leaves the other sessions of the user alone.
        var revokesAlone = false
        var hasBrokenEndpoint = false
        /// How often a gateway responds to a refresh in place of the server, with a bare 401, in percent.
        var ambiguousResponses = 0
        var saysSubject = true
        /// How often a cache responds to a refresh in place of the server, with the tokens of another user, in percent.
        var cachedResponses = 0
    }

    /// How often a chosen fault happens, in percent.
    struct FaultRates: Sendable {
        var storeFaults = 0
        var serverFaults = 0
        var crashes = 0
        var clockJumps = 0
        var userMoves = 0
        var suspensions = 0
        /// The connection of a lease is cut, where it has one.
        var cuts = 0
        /// How often a change of the store is not reported.
        var lostReports = 0
        /// How often a write that is stored reports a failure.
        var misreports = 0
        /// How often a read under the lease shows the tokens before the stored ones.
        var staleReads = 0
    }

    /// What an application does not meet every day, and most laws are not stated for (``Law/exceptions``).
    struct Traits: OptionSet {
        let rawValue: Int

        /// What the store holds can be damaged, deleted, or replaced by a copy of itself from earlier.
        static let damage = Traits(rawValue: 1)
        /// Users step up: a session has a second line of tokens.
        static let stepUps = Traits(rawValue: 2)
        static let setClocks = Traits(rawValue: 4)
    }

    let isShared: Bool
    let processes: Int
    let lease: Lease
    let server: Server
    let tolerance: ReplayTolerance
    let rates: FaultRates
    let traits: Traits
    let policy: TokenRefreshPolicy
    let length: Int
    /// Whether a process knows at once that its claim to the lease has expired.
    let noticesLosses: Bool
    let hasJournal: Bool
    /// Whether a lease has a name, which an intent under it carries.
    let leasesHaveNames: Bool
    let seed: UInt64
    /// Whether states are told apart: then names repeat themselves, and are mirrored (``Perspective``), as no two
    /// histories would lead to equal states otherwise. A simulation has names that are never used twice, so that a
    /// response to an earlier caller is noticed.
    let hasMirroredNames: Bool
    /// Whether time can pass, and anything happen, between the decision to call and the first byte.
    let delaysWrites: Bool
    /// Whether a suspended process is one whose device sleeps, which the device's clocks show.
    let showsSleep: Bool

    init(seed: UInt64) {
        var draws = RandomDraws(seed)
        self.seed = seed
        (hasMirroredNames, delaysWrites) = (false, true)
        isShared = draws.chance(70)
        processes = isShared ? 2 + draws.pick(2) : 1
        lease = draws.chance(60) ? .lock : .claim(draws.of([5_000, 15_000, 40_000]))
        let server = Self.server(&draws)
        self.server = server
        tolerance = Self.tolerance(of: server, &draws)
        rates = FaultRates(
            storeFaults: draws.of([0, 0, 10, 50]),
            serverFaults: draws.of([0, 10, 40, 80]),
            crashes: draws.of([0, 0, 20, 60]),
            clockJumps: draws.of([0, 0, 30]),
            userMoves: draws.of([5, 5, 30, 60]),
            suspensions: draws.of([0, 0, 20, 60]),
            cuts: draws.of([0, 0, 40]),
            lostReports: draws.of([0, 30, 100]),
            misreports: draws.of([0, 0, 5, 30]),
            staleReads: draws.of([0, 0, 20])
        )
        var traits: Traits = rates.clockJumps > 0 ? .setClocks : []
        if draws.chance(25) { traits.insert(.damage) }
        policy = Self.policy(&draws)
        length = draws.of([100, 300, 600, 2_000])
        noticesLosses = draws.chance(60)
        leasesHaveNames = draws.chance(50)
        showsSleep = draws.chance(50)
        hasJournal = draws.chance(50)
        if draws.chance(25) { traits.insert(.stepUps) }
        self.traits = traits
    }

    /// A world of two processes, without what is not part of the protocol: expiry, jitter, dates, cool-downs.
    init(exploring model: ExplorationModel, _ bounds: ExplorationBounds) {
        seed = 0
        delaysWrites = bounds.includes(.freeze)
        traits = model.hasJournal && bounds.includes(.vanish) ? .damage : []
        hasMirroredNames = true
        leasesHaveNames = true
        showsSleep = false
        hasJournal = model.hasJournal
        isShared = true
        processes = 2
        lease = model.hasClaims ? .claim(0) : .lock
        var server = Server()
        server.honoursKeys = model.honoursKeys
        server.saysLifetime = false
        server.saysDate = false
        server.skew = 0
        server.revokesAlone = true
        self.server = server
        tolerance = model.honoursKeys ? .sameKey : .none
        rates = FaultRates(lostReports: 100)
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .seconds(1), limit: .seconds(1), floor: .seconds(1))
        policy.freshness = .zero
        // A process that slept reads its responses in any order.
        policy.wakeGrace = .zero
        self.policy = policy
        length = 0
        // A file that is locked no longer is noticed before anything else.
        noticesLosses = !model.hasClaims
    }

    /// The tolerance that the handler declares: the server's, or less.
    private static func tolerance(of server: Server, _ draws: inout RandomDraws) -> ReplayTolerance {
        if server.honoursKeys, draws.chance(80) { return .sameKey }
        if server.grace > 0, draws.chance(80) { return .within(.milliseconds(server.grace)) }
        return .none
    }

    private static func policy(_ draws: inout RandomDraws) -> TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        policy.maximumPauseWait = draws.of([.seconds(2), .seconds(2), .seconds(30), .zero])
        if draws.chance(40) { policy.deadline = .seconds(5) }
        if draws.chance(40) { policy.ahead = draws.of([.zero, .seconds(2), .seconds(600)]) }
        if draws.chance(30) { policy.leeway = draws.of([.zero, .seconds(30)]) }
        if draws.chance(30) { policy.callLimit = draws.of([.seconds(1), .seconds(40)]) }
        if draws.chance(30) { policy.failureSharing = draws.of([.zero, .seconds(20)]) }
        if draws.chance(40) { policy.ambiguity = draws.of([.never, .always]) }
        if draws.chance(40) { policy.wakeGrace = .zero }
        if draws.chance(20) { policy.storeDeadline = .seconds(2) }
        if draws.chance(20) { policy.freshness = draws.of([.zero, .seconds(60)]) }
        return policy
    }

    private static func server(_ draws: inout RandomDraws) -> Server {
        var server = Server()
        server.revokesOnReuse = draws.chance(70)
        server.grace = draws.chance(40) ? draws.of([5_000, 60_000]) : 0
        server.branches = draws.chance(40)
        server.isStrict = draws.chance(40)
        server.rotates = draws.chance(75)
        server.lifetime = draws.of([6_000, 30_000, 300_000, 300_000, 3_600_000, nil])
        server.saysLifetime = draws.chance(80)
        server.saysDate = draws.chance(60)
        server.skew = draws.of([0.125, 0.125, -172_800.25, 172_800.125, 90])
        server.takesRevocations = draws.chance(70)
        server.givesRefreshTokens = draws.chance(96)
        server.unusableTokens = draws.of([0, 0, 0, 0, 20])
        server.honoursKeys = draws.chance(40)
        server.revokesAlone = draws.chance(50)
        server.hasBrokenEndpoint = draws.chance(30)
        server.ambiguousResponses = draws.of([0, 0, 0, 30])
        server.saysSubject = draws.chance(80)
        server.cachedResponses = draws.of([0, 0, 20])
        return server
    }
}

/// The source of every choice of a world, which draws one number for each step.
struct RandomDraws {
    private var generator: SplitMix64

    init(_ seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// A number from 0 up to, and not including, `count`.
    mutating func pick(_ count: Int) -> Int { Int(truncatingIfNeeded: generator.next() >> 33) % count }

    mutating func chance(_ percent: Int) -> Bool { pick(100) < percent }

    mutating func of<Choice>(_ choices: [Choice]) -> Choice { choices[pick(choices.count)] }
}
