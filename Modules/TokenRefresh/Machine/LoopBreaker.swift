import AuthInterface

/// G10: a server that refuses a token it has just issued will refuse the next one too.
///
/// The endpoint that refuses pays, and no other one: while its cool-down runs, its callers are told `unauthorized` and
/// cause no refresh. When *another* endpoint refuses the token too, the token itself may have been revoked. One refresh
/// a cool-down may find that out; if the server is at fault, it costs one refresh and not one for each endpoint.
struct LoopBreaker: Hashable, Sendable {
    /// The most endpoints that are remembered. The one whose cool-down ends first makes room.
    static let endpointLimit = 64

    enum Outcome: Hashable, Sendable {
        case refresh
        case unauthorized(retryAfter: Duration, isNew: Bool)
    }

    private struct CoolDown: Hashable, Sendable {
        let until: Duration
        let count: Int
    }

    private var coolDowns: [String: CoolDown] = [:]
    private var nextVerificationAt = Duration.zero

    /// How long an endpoint's cool-down still runs.
    func pause(of endpoint: String?, at uptime: Duration) -> Duration? {
        coolDowns[endpoint ?? ""].flatMap { $0.until > uptime ? $0.until - uptime : nil }
    }

    /// A token was refused that was issued a moment ago.
    ///
    /// - Parameters:
    ///   - endpoint: What refused it.
    ///   - isReplacement: Whether it had been given to this request in place of a refused one, which proves a loop.
    ///   - uptime: The time on the monotonic clock.
    ///   - cooldown: How long the endpoint pays the first time.
    /// - Returns: Whether the token is refreshed, or the caller told.
    mutating func refused(
        by endpoint: String?,
        isReplacement: Bool,
        at uptime: Duration,
        cooldown: Duration
    ) -> Outcome {
        let key = endpoint ?? ""
        if !isReplacement, uptime >= nextVerificationAt,
            coolDowns.contains(where: { $0.key != key && $0.value.until > uptime })
        {
            nextVerificationAt = uptime + cooldown
            return .refresh
        }
        let last = coolDowns[key]
        let count = last.map { uptime < $0.until + cooldown ? min($0.count + 1, 4) : 1 } ?? 1
        let pause = cooldown * (1 << (count - 1))
        makeRoom(for: key)
        coolDowns[key] = CoolDown(until: uptime + pause, count: count)
        return .unauthorized(retryAfter: pause, isNew: true)
    }

    private mutating func makeRoom(for key: String) {
        guard coolDowns.count >= Self.endpointLimit, coolDowns[key] == nil else { return }
        if let first = coolDowns.min(by: { $0.value.until < $1.value.until }) { coolDowns[first.key] = nil }
    }
}
