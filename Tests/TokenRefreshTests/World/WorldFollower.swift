import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// A follower beside the processes of a device: it reads their store, or gets what the store held, late and in any
/// order (G29).
///
/// It has draws of its own, so that the steps of the processes are the same with it and without it.
struct WorldFollower {
    /// How many contents of the store are on their way to a follower at most.
    private static let mailLimit = 8
    private static let policy = FollowerPolicy()
    /// How long a request waits at most, in milliseconds.
    private static let bundleWait = policy.bundleWait.milliseconds

    /// What a follower meets of the world, which is too large to be copied with each step.
    struct Surroundings {
        let now: Int
        let instant: Instant
        let store: DeviceStore
        /// Whether the content of the store was set since the last step.
        let hasNewContent: Bool
        /// The newest tokens of a process, for a fault.
        let newest: TokenBundle?
        /// Whether the store has never gone back to older content.
        let isIntact: Bool
    }

    private var machine: FollowerMachine
    private let hasSource: Bool
    private var draws: SplitMix64
    /// The content that a read has found, before the follower gets it.
    private var found: Result<StoredSession, TokenStoreError>?
    private var isReading = false
    /// The contents of the store that are on their way.
    private var mail: [StoredSession] = []
    private var timers: [FollowerTimer: Int] = [:]
    private var waiters: [WaiterID: Int] = [:]
    private var number = 0

    /// Up to which ordinal the follower was shown that sessions have ended. `nil`: none has.
    private var ended: SessionOrdinal?
    /// The tokens that it had last.
    private var last: TokenBundle?
    private var hasFollowed = false

    init(hasSource: Bool, seed: UInt64) {
        self.hasSource = hasSource
        draws = SplitMix64(seed: seed)
        machine = FollowerMachine(policy: Self.policy, hasSource: hasSource)
    }

    private mutating func pick(_ count: Int) -> Int { Int(draws.next() % UInt64(count)) }

    /// Lets the follower do what is due, and something by chance.
    ///
    /// - Returns: What it does that it must not.
    mutating func go(_ world: Surroundings, held: Set<String>) -> String? {
        if world.hasNewContent { deliver(world.store.content) }
        for (timer, end) in timers where end <= world.now {
            timers[timer] = nil
            if let broken = send(.timerFired(timer), world, held) { return broken }
        }
        if let id = waiters.first(where: { world.now >= $0.value + Self.bundleWait })?.key {
            return "request \(id.number) of a follower has waited for longer than its limit"
        }
        switch pick(6) {
        case 0: return hasSource ? send(.changed, world, held) : nil
        case 1 where isReading && found == nil: found = read(world)
        case 1, 2:
            guard let result = found, isReading else { return handOver(world, held) }
            (found, isReading) = (nil, false)
            return send(.read(result.map(\.withoutRefreshToken)), world, held)
        case 3: return ask(world, held)
        default: break
        }
        return nil
    }

    /// Lets the follower get everything that is on its way.
    ///
    /// - Returns: What it shows in place of the newest content.
    mutating func comeToRest(_ world: Surroundings, held: Set<String>) -> String? {
        // The newest content comes first: what is late changes nothing.
        for content in [world.store.content] + (hasSource ? [] : mail) {
            isReading = false
            let content = content.withoutRefreshToken
            if let broken = send(hasSource ? .read(.success(content)) : .given(content), world, held) { return broken }
        }
        guard world.isIntact else { return nil }
        let shown = machine.current?.bundle
        switch world.store.content {
        case .active(let newest) where newest.accessToken.fitsHeaderField:
            guard shown?.session != newest.session || shown?.generation != newest.generation else { return nil }
            return "a follower ends with \(shown?.traceText ?? "no session"), the store holds \(newest.traceText)"
        case .tombstone: return shown.map { "a follower ends with \($0.traceText), which has ended" }
        case .active, .empty: return nil
        }
    }

    /// A change of the store is sent to the follower, without a promise of when.
    private mutating func deliver(_ content: StoredSession) {
        guard !hasSource, mail.last != content else { return }
        mail.append(content)
        if mail.count > Self.mailLimit { mail.remove(at: pick(mail.count)) }
    }

    private func read(_ world: Surroundings) -> Result<StoredSession, TokenStoreError> {
        world.store.read(in: world.store.condition)
    }

    /// The follower gets one of the contents that are on their way, and may get it again.
    private mutating func handOver(_ world: Surroundings, _ held: Set<String>) -> String? {
        guard !hasSource, !mail.isEmpty else { return nil }
        var given = mail[pick(mail.count)]
        if let newest = world.newest { given = .active(newest) }
        return send(.given(given.withoutRefreshToken), world, held)
    }

    private mutating func ask(_ world: Surroundings, _ held: Set<String>) -> String? {
        guard waiters.count < 3 else { return nil }
        number += 1
        let id = WaiterID(number: number)
        waiters[id] = world.now
        let refused = machine.current.flatMap { pick(2) == 0 ? $0.token : nil }
        return send(.requested(refused.map { .replacement($0) } ?? .token, id), world, held)
    }

    private mutating func send(_ event: FollowerEvent, _ world: Surroundings, _ held: Set<String>) -> String? {
        switch event {
        case .given(.tombstone(let end)), .read(.success(.tombstone(let end))):
            ended = max(ended ?? .unknown, end.ordinal)
        default: break
        }
        for action in machine.handle(event, at: world.instant) {
            switch action {
            case .read:
                if isReading { return "a follower reads twice at once" }
                isReading = true
            case .respond(let id, let response):
                if waiters.removeValue(forKey: id) == nil { return "a request of a follower gets two responses" }
                if case .token(let token) = response, !held.contains(token.value) {
                    return "a follower gives a token that the store never held"
                }
            case .startTimer(let timer, let at): timers[timer] = at.milliseconds
            case .stopTimer(let timer): timers[timer] = nil
            case .bundleNeeded, .publish: break
            }
        }
        return check(held, isIntact: world.isIntact)
    }

    private mutating func check(_ held: Set<String>, isIntact: Bool) -> String? {
        if let last, last == machine.current?.bundle, last.ordinal > ended ?? .unknown { return nil }
        switch machine.published {
        case .unknown: return nil
        case .signedOut(.never): return hasFollowed ? "a follower forgets that there was a session" : nil
        case .signedOut: return ended == nil ? "a follower ends a session that its owner has not ended" : nil
        case .signedIn(let session):
            hasFollowed = true
            guard let tokens = machine.current else { return "a follower is signed in without tokens" }
            if isIntact, let ended, tokens.bundle.ordinal <= ended {
                return "a follower shows \(session.rawValue), whose end it has seen"
            }
            if !held.contains(tokens.bundle.accessToken) { return "a follower is ahead of the store" }
            if tokens.bundle.refreshToken != nil || tokens.bundle.refreshIntent != nil {
                return "a follower keeps what spends a refresh token"
            }
            if isIntact, let last, last.session == session, tokens.bundle.generation < last.generation {
                return "a follower goes back from g\(last.generation) to g\(tokens.bundle.generation)"
            }
            last = tokens.bundle
            return nil
        }
    }
}

extension World {
    /// Lets the followers of the device go on, after a step, or come to rest with the world.
    mutating func letFollow() {
        guard isShared, !plan.hasMirroredNames else { return }
        let surroundings = surroundings()
        for index in followers.indices {
            let broken =
                isDraining
                ? followers[index].comeToRest(surroundings, held: heldTokens)
                : followers[index].go(surroundings, held: heldTokens)
            if let broken { fail(.follower, broken) }
        }
    }

    private mutating func surroundings() -> WorldFollower.Surroundings {
        let hasNewContent = store.changes != followedChanges
        followedChanges = store.changes
        if hasNewContent, let bundle = store.content.bundle { heldTokens.insert(bundle.accessToken) }
        let isAhead = store.fault == .followersGetUnsavedTokens
        let newest = isAhead ? processes.lazy.compactMap(\.newest).first : nil
        return WorldFollower.Surroundings(
            now: now, instant: instant, store: store, hasNewContent: hasNewContent, newest: newest,
            isIntact: !hasLostContent)
    }
}
