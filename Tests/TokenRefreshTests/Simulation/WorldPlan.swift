import Foundation

@testable import TokenRefresh

/// What a world is like from its beginning to its end. It follows from one seed.
struct WorldPlan: Sendable {
    /// How many processes there are on the device, and what keeps them apart.
    enum Sharing: Sendable {
        /// One process, and a store of its own.
        case alone
        /// Several processes, and a store that can be leased.
        case shared
        /// Several processes, and a store without a lease: only the second look after a rejection helps.
        case unguarded
    }

    /// How the authorisation server treats refresh tokens.
    struct Server: Sendable {
        /// Whether a spent refresh token that comes again ends the whole family.
        var revokesOnReuse = true
        /// How long a spent refresh token still earns its successor, in milliseconds.
        var grace = 0
        /// Whether grace earns another successor instead of the same one.
        var branches = false
        /// Whether a rotation kills the older access tokens.
        var isStrict = false
        var rotates = true
        /// How long access tokens are good, in milliseconds. `nil`: until they are revoked.
        var lifetime: Int?
        var saysLifetime = true
        var saysDate = true
        /// How far the server's clock is ahead of the true time, in seconds.
        var skew: TimeInterval = 0
        var takesRevocations = true
        /// How often a refresh brings an access token that no header field can carry, in percent.
        var unusableTokens = 0
        /// What the server says instead of the lifetime, in milliseconds: nothing that a client can believe.
        var falseLifetime: Int?
        /// Whether a server that does not rotate sends an empty refresh token instead of none.
        var sendsEmptyTokens = false
        /// Whether a login comes with a refresh token at all.
        var givesRefreshTokens = true
    }

    /// How rough the weather is: how often something is chosen to go wrong, in percent of what it might.
    struct Mood: Sendable {
        var storeTrouble = 0
        var serverTrouble = 0
        var crashes = 0
        var clockJumps = 0
        var userMoves = 0
    }

    let sharing: Sharing
    let processes: Int
    let server: Server
    let mood: Mood
    let policy: TokenRefreshPolicy
    let showsEmptyTokens: Bool
    let length: Int
    let seed: UInt64

    init(seed: UInt64) {
        var dice = Dice(seed)
        self.seed = seed
        let kind = dice.pick(10)
        sharing = kind < 3 ? .alone : kind < 9 ? .shared : .unguarded
        processes = sharing == .alone ? 1 : 2 + dice.pick(2)
        var server = Self.server(&dice)
        // Without a lease two processes would each go on with a branch of their own, and nobody could tell which is it.
        if sharing == .unguarded { server.branches = false }
        self.server = server
        mood = Mood(
            storeTrouble: dice.of([0, 0, 10, 50]),
            serverTrouble: dice.of([0, 10, 40, 80]),
            crashes: dice.of([0, 0, 20, 60]),
            clockJumps: dice.of([0, 30]),
            userMoves: sharing == .unguarded ? 0 : dice.of([5, 5, 30, 60])
        )
        policy = Self.policy(&dice)
        showsEmptyTokens = dice.chance(50)
        length = dice.of([100, 300, 600, 2_000])
    }

    private static func policy(_ dice: inout Dice) -> TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        policy.patience = dice.of([.seconds(2), .seconds(2), .seconds(30), .zero])
        if dice.chance(40) { policy.deadline = .seconds(5) }
        if dice.chance(40) { policy.ahead = dice.of([.zero, .seconds(2), .seconds(600)]) }
        if dice.chance(30) { policy.leeway = dice.of([.zero, .seconds(30)]) }
        if dice.chance(30) { policy.leaseWait = dice.of([.seconds(2), .seconds(40)]) }
        if dice.chance(20) { policy.storeDeadline = .seconds(2) }
        if dice.chance(20) { policy.freshness = dice.of([.zero, .seconds(60)]) }
        return policy
    }

    private static func server(_ dice: inout Dice) -> Server {
        var server = Server()
        server.revokesOnReuse = dice.chance(70)
        server.grace = dice.chance(40) ? dice.of([5_000, 60_000]) : 0
        server.branches = dice.chance(40)
        server.isStrict = dice.chance(40)
        server.rotates = dice.chance(75)
        server.lifetime = dice.of([6_000, 30_000, 300_000, 300_000, 3_600_000, nil])
        server.saysLifetime = dice.chance(80)
        server.saysDate = dice.chance(60)
        server.skew = dice.of([0, 0, -172_800, 172_800, 90])
        server.takesRevocations = dice.chance(70)
        server.givesRefreshTokens = dice.chance(96)
        server.unusableTokens = dice.of([0, 0, 0, 0, 20])
        server.falseLifetime = dice.chance(10) ? dice.of([0, -5_000]) : nil
        server.sendsEmptyTokens = dice.chance(30)
        return server
    }
}
