import AuthInterface
import Foundation

/// The instant of an event on the two clocks, what is known of both, and the constants of the machine.
struct MachineClock: Hashable, Sendable {
    let settings: MachineSettings
    @Uncompared private(set) var now = Instant(uptime: .zero, date: Date(timeIntervalSince1970: 0))
    /// Since this instant the wall clock has not been set: it has advanced with the monotonic clock.
    private var steadySince: Instant?
    /// Whether the wall clock was set since the machine began.
    private var wasClockSet = false
    /// Until when nothing starts that is not urgent, as the process may just continue after a sleep (G33).
    private(set) var quietUntil: Duration?
    var serverClock = ServerClock()

    init(settings: MachineSettings) { self.settings = settings }

    var uptime: Duration { now.uptime }
    var policy: TokenRefreshPolicy { settings.policy }

    /// How far the wall clock may differ from the monotonic clock, as its rate is corrected, before it counts as set.
    static let clockTolerance: TimeInterval = 2
    /// A sleep that is shorter is none: the two clocks that show it are not read at the same instant.
    static let shortestSleep: Duration = .seconds(1)

    mutating func advance(to instant: Instant) {
        let slept = instant.asleep - now.asleep
        now = instant
        if steadySince != nil, slept >= Self.shortestSleep { noteWake() }
        if let start = steadySince {
            let drift = instant.date.timeIntervalSince(start.date) - (instant.uptime - start.uptime) / .seconds(1)
            if abs(drift) <= Self.clockTolerance { return }
            wasClockSet = true
        }
        steadySince = instant
    }

    /// The process has slept. Where the sleep has ended some time ago, what is not urgent is late by a pause.
    mutating func noteWake() { quietUntil = now.uptime + policy.wakePause }

    /// Whether what is not urgent waits (G33).
    var isQuiet: Bool { quietUntil.map { uptime < $0 } ?? false }

    /// A response says the server's time. Returns whether that was not known before.
    mutating func note(serverDate date: Date) -> Bool {
        guard date.isPlausible else { return false }
        defer { serverClock.record(date, at: now) }
        return !serverClock.isKnown
    }

    /// Whether this process has seen that the wall clock was not set since a date, which was shown by then.
    func isSteady(since date: Date) -> Bool {
        steadySince.map { date >= $0.date && date <= now.date } ?? false
    }

    /// The time since a stored date. `nil`: the wall clock was set since. Before this process it counts as steady.
    func timePassed(since date: Date) -> Duration? {
        guard date.isPlausible, !wasClockSet || isSteady(since: date) else { return nil }
        return .seconds(max(now.date.timeIntervalSince(date), 0))
    }

    /// The time since a process of this host recorded an intent. `nil`: not known, or the clock was set since.
    func age(of intent: RefreshIntent) -> Duration? {
        guard intent.owner.host == settings.owner.host, isSteady(since: intent.date) else { return nil }
        return .seconds(now.date.timeIntervalSince(intent.date))
    }

    /// An earlier instant, on the clocks as they are set now; `nil` is now.
    func earlier(_ uptime: Duration?) -> Instant {
        uptime.map { Instant(uptime: $0, date: now.date - (now.uptime - $0) / .seconds(1)) } ?? now
    }
}

/// The constants of a machine.
struct MachineSettings: Hashable, Sendable {
    let policy: TokenRefreshPolicy
    let isShared: Bool
    /// This process, as an intent names it.
    let owner: ProcessIdentity
    let tolerance: ReplayTolerance
    var needsRefreshToken = true
    var hasJournal = false

    /// Machines with other settings are rarely compared.
    func hash(into hasher: inout Hasher) {}

    /// Whether there is a way to newer tokens than these (G22).
    func canRefresh(_ bundle: TokenBundle) -> Bool { !needsRefreshToken || bundle.refreshToken?.isEmpty == false }
}
