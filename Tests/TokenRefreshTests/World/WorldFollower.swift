import AuthInterface

@testable import TokenRefresh

/// A follower beside the processes of a device: it reads their store, or is handed what the store held, late and in any
/// order (G29). No request waits for its tokens.
///
/// It has draws of its own, so that the steps of the processes are the same with it and without it.
struct WorldFollower {
    /// How many contents of the store are on their way to a follower at most.
    private static let mailLimit = 8

    private var machine: FollowerMachine
    private let hasSource: Bool
    private var draws: RandomDraws
    /// What a read has found in the store, before the follower gets it.
    private var found: Result<StoredSession, TokenStoreError>?
    /// The contents of the store that are on their way.
    private var mail: [StoredSession] = []
    /// Up to which ordinal the follower was shown that sessions have ended. `nil`: none has.
    private var ended: SessionOrdinal?
    /// The tokens that it had last. `nil`: it has had none.
    private var last: TokenBundle?

    init(hasSource: Bool, seed: UInt64) {
        self.hasSource = hasSource
        draws = RandomDraws(seed)
        machine = FollowerMachine(policy: FollowerPolicy(), hasSource: hasSource)
    }

    /// Lets the follower do something by chance.
    ///
    /// - Returns: What it does that it must not.
    mutating func go(_ world: World) -> String? {
        if !hasSource, mail.last != world.store.content {
            mail.append(world.store.content)
            if mail.count > Self.mailLimit { mail.remove(at: draws.pick(mail.count)) }
        }
        switch draws.pick(3) {
        case 0 where hasSource: return send(.changed, world)
        case 1 where hasSource:
            guard let found else { return nil }
            self.found = nil
            return send(.read(found.map(\.withoutRefreshToken)), world)
        case 1:
            let isAhead = world.store.fault == .followersGetUnsavedTokens
            let unsaved = isAhead ? world.processes.lazy.compactMap(\.newest).first : nil
            let given = unsaved.map { .active($0) } ?? mail[draws.pick(mail.count)]
            return send(.given(given.withoutRefreshToken), world)
        default: return nil
        }
    }

    /// Lets the follower get everything that is on its way.
    ///
    /// - Returns: What it shows in place of the newest content.
    mutating func comeToRest(_ world: World) -> String? {
        // The newest content comes first: what is late changes nothing.
        for content in [world.store.content] + (hasSource ? [] : mail) {
            let content = content.withoutRefreshToken
            if let broken = send(hasSource ? .read(.success(content)) : .given(content), world) { return broken }
        }
        let shown = machine.current?.bundle
        switch world.store.content {
        case .active(let newest) where newest.accessToken.fitsHeaderField:
            guard shown?.session != newest.session || shown?.generation != newest.generation else { return nil }
            return "a follower ends with \(shown?.traceText ?? "no session"), the store holds \(newest.traceText)"
        case .tombstone: return shown.map { "a follower ends with \($0.traceText), which has ended" }
        case .active, .empty: return nil
        }
    }

    private mutating func send(_ event: FollowerEvent, _ world: World) -> String? {
        switch event {
        case .given(.tombstone(let end)), .read(.success(.tombstone(let end))):
            ended = max(ended ?? .unknown, end.ordinal)
        default: break
        }
        for action in machine.handle(event, at: world.instant) {
            if case .read = action { found = world.store.read(in: world.store.condition) }
        }
        return check(world.heldTokens)
    }

    private mutating func check(_ held: Set<String>) -> String? {
        switch machine.published {
        case .unknown: return nil
        case .signedOut(.never): return last.map { _ in "a follower forgets that there was a session" }
        case .signedOut: return ended == nil ? "a follower ends a session that its owner has not ended" : nil
        case .signedIn(let session):
            guard let tokens = machine.current?.bundle else { return "a follower is signed in without tokens" }
            if let ended, tokens.ordinal <= ended {
                return "a follower shows \(session.rawValue), whose end it has seen"
            }
            if !held.contains(tokens.accessToken) { return "a follower is ahead of the store" }
            if tokens.refreshToken != nil || tokens.refreshIntent != nil {
                return "a follower keeps what spends a refresh token"
            }
            if let last, last.session == session, tokens.generation < last.generation {
                return "a follower goes back from g\(last.generation) to g\(tokens.generation)"
            }
            last = tokens
            return nil
        }
    }
}

extension World {
    /// Lets the followers of the device go on, after a step, or come to rest with the world.
    mutating func letFollow() {
        guard isShared, !plan.hasMirroredNames else { return }
        if let bundle = store.content.bundle { heldTokens.insert(bundle.accessToken) }
        for index in followers.indices {
            var follower = followers[index]
            if let broken = isDraining ? follower.comeToRest(self) : follower.go(self) { fail(.follower, broken) }
            followers[index] = follower
        }
    }
}
