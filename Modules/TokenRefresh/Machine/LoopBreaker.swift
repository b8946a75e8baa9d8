/// G10: if the server refuses a token that it has just issued, another refresh does not help.
///
/// Only the callers of the refusing endpoint are affected: during its cool-down they get `unauthorized` and cause no
/// refresh. When *another* endpoint refuses the token too, the token itself may have been revoked, and so it may where
/// another process has made the refresh, which an endpoint there may have caused. One refresh in each cool-down finds
/// that out; if the server is at fault, it costs one refresh and not one for each endpoint.
struct LoopBreaker: Hashable, Sendable {
    /// The maximum number of endpoints. The one whose cool-down ends first is removed.
    static let endpointLimit = 64

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

    /// Handles the refusal of a fresh token by an endpoint. Returns the cool-down of the endpoint, which doubles up to
    /// eight times the first one; `nil`: the token is refreshed. A replacement of a refused token proves a loop.
    mutating func refused(
        by endpoint: String?, isReplacement: Bool, isAdopted: Bool = false, at uptime: Duration, cooldown: Duration
    ) -> Duration? {
        let key = endpoint ?? ""
        if !isReplacement, uptime >= nextVerificationAt,
            isAdopted || coolDowns.contains(where: { $0.key != key && $0.value.until > uptime })
        {
            nextVerificationAt = uptime + cooldown
            return nil
        }
        let last = coolDowns[key]
        let count = last.map { uptime < $0.until + cooldown ? min($0.count + 1, 4) : 1 } ?? 1
        let pause = cooldown * (1 << (count - 1))
        if coolDowns.count >= Self.endpointLimit, last == nil,
            let first = coolDowns.min(by: { $0.value.until < $1.value.until })
        {
            coolDowns[first.key] = nil
        }
        coolDowns[key] = CoolDown(until: uptime + pause, count: count)
        return pause
    }
}
