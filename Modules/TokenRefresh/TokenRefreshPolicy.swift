import AuthInterface
public import ConcurrencyPrimitives

/// The durations and limits of the refresh engine.
public struct TokenRefreshPolicy: Sendable, Hashable {
    /// How long before its expiry a token is refreshed in the background while requests use it (G3).
    /// At most a quarter of the token's lifetime is used; otherwise a short-lived token would be refreshed
    /// continuously.
    ///
    /// The refresh starts later by up to seven eighths of what lies between this window and the ``leeway``: by a share
    /// that a hash of session and generation gives, the same in every process. So sessions that were signed in together
    /// do not refresh together (G33).
    public var ahead: Duration = .seconds(60)

    /// How long before its expiry a token is too old to send: requests wait for the refresh (G3).
    /// At most a tenth of the token's lifetime counts.
    public var leeway: Duration = .seconds(5)

    /// The maximum time that a request waits for a refresh, including the wait for a refresh by another process
    /// (G8, G13). Then it fails as unavailable; the call continues.
    public var deadline: Duration = .seconds(30)

    /// How long a call to the handler may take until it is cancelled (G8). Until it has ended, no other call is made
    /// with the same refresh token. Never shorter than ``deadline``.
    public var callLimit: Duration = .seconds(120)

    /// How long a cancelled call may take to end before it is abandoned (G8).
    public var abandonAfter: Duration = .seconds(10)

    /// How long a call that has passed one of its last two limits stays while the process runs again after a sleep, so
    /// that a response which arrived meanwhile is read before the call is cancelled or abandoned (G8). It counts in
    /// running time, and at most as the second half of a limit where the process did not sleep. Zero: no longer at all.
    public var wakeGrace: Duration = .seconds(5)

    /// How long after a sleep of the device no refresh starts in the background (G33): right after a wake the network
    /// is often not there yet. A refresh that requests wait for starts at once. Zero: no pause.
    public var wakePause: Duration = .seconds(10)

    /// How long one read or write of the store may take before the engine continues without it (G11). Never longer
    /// than ``deadline``.
    public var storeDeadline: Duration = .seconds(10)

    /// What a repeated *ambiguous* refusal counts as (G4).
    public var ambiguity: AmbiguityRule = .repeated

    /// The shortest pause after an *ambiguous* refusal, so that one which lasts for a moment ends no session (G4). Less
    /// than 10 s counts as 10 s.
    public var ambiguityCooldown: Duration = .seconds(30)

    /// How long an *ambiguous* refusal, other than by the status that means *expired*, must be repeated before it
    /// counts as a rejection (G4). It must come three times.
    public var ambiguityPeriod: Duration = .seconds(600)

    /// The pause after a response that demands an action of the user (G32). It doubles with each one in a row, up to
    /// ``maximumUserActionPause``.
    public var userActionCooldown: Duration = .seconds(30)

    /// The longest pause after responses that demand an action of the user (G32).
    public var maximumUserActionPause: Duration = .seconds(600)

    /// The pause after failed refreshes (G6).
    public var backoff = Backoff()

    /// The pause after a failure of the store: before it is read or written again, and before the next refresh that it
    /// has failed. No server is asked, so the pauses stay short: a disk or a database that is back is noticed within
    /// seconds.
    public var storeBackoff = Backoff(base: .seconds(1), limit: .seconds(2), floor: .milliseconds(500))

    /// The longest `Retry-After` that is honoured (G6).
    public var maximumRetryAfter: Duration = .seconds(300)

    /// The longest remaining pause that a request waits for. If more is left it fails at once, with the time that is
    /// left (G6).
    public var maximumPauseWait: Duration = .seconds(2)

    /// How long after a failed refresh the requests that were sent before it, and are refused only now, share its
    /// failure in place of a new attempt (G6): as long as a request may be under way. At least as long as the pause. A
    /// caller that sends such a request again asks `token()` first, which shows that it is sent after the failure.
    public var failureSharing: Duration = .seconds(60)

    /// How long a token that came from a refresh counts as *just refreshed*, but at most for a quarter of its lifetime.
    /// A refusal in that time causes no other refresh (G10).
    public var freshness: Duration = .seconds(10)

    /// How long an endpoint that refused a token which was just refreshed causes no refresh (G10). It doubles, up to
    /// eight times this, when the endpoint refuses the next token too.
    public var refusalCooldown: Duration = .seconds(10)

    /// The longest plausible lifetime. A token with a longer one is used until it is refused.
    public var maximumLifetime: Duration = .seconds(366 * 86_400)

    /// Creates a policy with the defaults.
    public init() {}

    /// The shortest pause after an ambiguous refusal.
    var ambiguousPause: Duration { max(ambiguityCooldown, AmbiguousRefusals.shortestCooldown) }

    /// The longest duration of a call: the larger one of its two limits.
    var longestCall: Duration { max(callLimit, deadline) }

    /// How long another engine may wait for the response of its call: what it has recorded, but half an hour at most,
    /// so that a damaged record does not hold the session back.
    func longestCall(of intent: RefreshIntent) -> Duration {
        intent.longestCall.map { min(max($0, .zero), max(longestCall, .seconds(1800))) } ?? longestCall
    }

    /// The limit of one read or write of the store: a caller may wait for it (G25).
    var storeLimit: Duration { min(storeDeadline, deadline) }
}

/// When an *ambiguous* refusal of a refresh, such as a bare 401, counts as a rejection (G4).
public enum AmbiguityRule: Sendable, Hashable {
    /// Never: it is always unavailable.
    case never

    /// When the next attempt, after ``TokenRefreshPolicy/ambiguityCooldown``, is refused in the same way; for a refusal
    /// with another status than the one that means *expired*, when it comes three times with the same status and code
    /// within ``TokenRefreshPolicy/ambiguityPeriod`` at least.
    case repeated

    /// At once.
    case always
}
