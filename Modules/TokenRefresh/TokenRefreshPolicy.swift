public import AuthInterface

/// The times and limits the refresh engine works with. Every one has a name, a default and a reason.
public struct TokenRefreshPolicy: Sendable, Hashable {
    /// How long before its expiry a token is refreshed in the background while requests go on using it (G3).
    /// At most a quarter of the token's lifetime counts, so that a short-lived token is not refreshed all the time.
    public var ahead: Duration = .seconds(60)

    /// How long before its expiry a token is too old to send: requests wait for the refresh (G3).
    /// At most a tenth of the token's lifetime counts.
    public var leeway: Duration = .seconds(5)

    /// How long a refresh may take until those who wait for it are told that it is unavailable (G8).
    public var deadline: Duration = .seconds(30)

    /// How long the store may take over one write until the engine goes on without it (G11).
    public var storeDeadline: Duration = .seconds(10)

    /// How long to wait for another process that holds a shared store (G13).
    public var leaseWait: Duration = .seconds(10)

    /// The time between failed refreshes (G6), and between failed writes to the store.
    public var backoff = Backoff()

    /// The longest `Retry-After` that is believed (G6).
    public var maximumRetryAfter: Duration = .seconds(300)

    /// A request that comes while failed refreshes cool down waits if no more than this is left; otherwise it fails at
    /// once with the time that is left (G6).
    public var patience: Duration = .seconds(2)

    /// How long a token that came from a refresh counts as *just refreshed*. A refusal in that time is not answered
    /// with another refresh (G10).
    public var freshness: Duration = .seconds(10)

    /// How long no refresh goes out for a token that was refused while just refreshed (G10). It doubles up to eight
    /// times this when the next token fares the same.
    public var refusalCooldown: Duration = .seconds(10)

    /// The longest lifetime that is believed. A token that claims more is used until it is refused.
    public var maximumLifetime: Duration = .seconds(366 * 86_400)

    /// Creates a policy with the defaults.
    public init() {}
}

/// A small seeded generator, so that a run of the machine can be repeated to the letter.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
