import AuthInterface

@testable import TokenRefresh

/// An authorization server that rotates refresh tokens and detects their second use.
struct AuthorizationServer {
    /// One login and all tokens that descend from it.
    struct Family: Hashable {
        let user: String
        var newest: Int
        /// Its place in the order of sign-ins.
        var ordinal = SessionOrdinal.unknown
        var isRevoked = false
        /// The user has signed out of it somewhere.
        var isLoggedOut = false
        var wasStored = false
        /// The store must not hold it again: its end, or a later sign-in, is stored.
        var isRetired = false
        /// The server has ended it because a refresh token was used twice.
        var isTakenForStolen = false
        /// How it ended, as the tombstone in the store says.
        var end: SignOutReason?
    }

    /// The tokens of one response: an access token and the refresh token that came with it.
    struct Grant {
        let family: Int
        let generation: Int
        let issuedAt: Int
        /// The grant whose refresh token is in force: its own, unless the server does not rotate.
        let refresh: Int
        var rotatedAt: Int?
        var successor: Int?
        /// A bundle made of a successor has been in the store: no process needs this refresh token again.
        var isSuccessorStored = false
        var isKilled = false
        /// A bundle made of it has been in the store.
        var wasStored = false
        /// The idempotency key with which its refresh token was replaced.
        var key: String?
        /// The keys of the intents for its refresh token that have been in the store.
        var intents: Set<String> = []
        /// The calls that exchanged its refresh token for another grant.
        var exchanges: [Exchange] = []
    }

    /// A call that exchanged a refresh token, and what became of the response.
    struct Exchange: Hashable {
        enum Fate: Hashable {
            /// The response has not arrived, and the process runs.
            case underWay
            case lost
            /// The process was killed before it stored the response.
            case crashed
            /// The process has received the response, and runs.
            case received
        }

        let call: Int
        let process: Int
        /// When its intent was recorded, or it was made where there is none.
        let since: Int
        /// The process that made it has released, or lost, the lease.
        var isUnguarded = false
        var fate = Fate.underWay
    }

    enum Response: Hashable {
        case issued(Int)
        case rejected
    }

    let plan: WorldPlan.Server
    var fault: World.Fault?
    var families: [Family] = []
    var grants: [Grant] = []
    /// Access tokens issued before this are expired by order.
    var expiredBefore = -1

    init(plan: WorldPlan.Server) { self.plan = plan }

    subscript(session: SessionID) -> Family {
        get { families[Int(named: session.rawValue)] }
        set { families[Int(named: session.rawValue)] = newValue }
    }

    func session(_ family: Int) -> SessionID { SessionID(rawValue: "\(families[family].user)\(family)") }

    mutating func signIn(_ user: String, at now: Int) -> Int {
        families.append(Family(user: user, newest: grants.count))
        return add(to: families.count - 1, generation: 0, at: now)
    }

    /// The user of a family signs in again, as the server has demanded.
    mutating func stepUp(_ family: Int, at now: Int) -> Int {
        let generation = grants.filter { $0.family == family }.map(\.generation).max() ?? 0
        return add(to: family, generation: generation + 1, at: now)
    }

    /// Adds the newest grant of a family, whose refresh token is its own, unless it names an older one.
    private mutating func add(to family: Int, generation: Int, at now: Int, refresh: Int? = nil) -> Int {
        let new = grants.count
        grants.append(Grant(family: family, generation: generation, issuedAt: now, refresh: refresh ?? new))
        families[family].newest = new
        return new
    }

    mutating func refresh(_ token: Int, key: String, at now: Int) -> Response {
        let family = grants[token].family
        guard !families[family].isRevoked else { return .rejected }
        guard let successor = grants[token].successor else {
            if plan.rotates { grants[token].key = key }
            return .issued(issue(from: token, at: now))
        }
        if isKnown(key, of: token) { return grants[successor].rotatedAt == nil ? .issued(successor) : .rejected }
        if isReuse(token, key: key, at: now) {
            if plan.revokesOnReuse {
                families[family].isRevoked = true
                families[family].isTakenForStolen = true
            }
            return .rejected
        }
        return .issued(plan.branches ? issue(from: token, at: now) : successor)
    }

    /// Rule 6. Whether the server knows the key of the exchange that replaced a refresh token.
    private func isKnown(_ key: String, of token: Int) -> Bool {
        plan.honoursKeys && grants[token].key == key && fault != .keysAreForgotten
    }

    /// Whether the server counts the use of a refresh token as theft.
    func isReuse(_ token: Int, key: String, at now: Int) -> Bool {
        guard let rotatedAt = grants[token].rotatedAt, let successor = grants[token].successor else { return false }
        guard !families[grants[token].family].isRevoked, !isKnown(key, of: token) else { return false }
        // A rotated refresh token may be accepted as a retry.
        let isInTime = plan.grace > 0 && now - rotatedAt <= plan.grace
        return !isInTime || (!plan.branches && grants[successor].rotatedAt != nil)
    }

    private mutating func issue(from token: Int, at now: Int) -> Int {
        let family = grants[token].family
        let last = families[family].newest
        let generation = grants[plan.rotates ? token : last].generation + 1
        let new = add(to: family, generation: generation, at: now, refresh: plan.rotates ? nil : token)
        if plan.rotates {
            grants[token].rotatedAt = grants[token].rotatedAt ?? now
            grants[token].successor = new
        }
        if plan.isStrict { grants[last].isKilled = true }
        return new
    }

    mutating func revoke(family: Int) { if plan.takesRevocations { families[family].isRevoked = true } }

    /// Whether the resource server accepts an access token.
    func takes(_ grant: Int, at now: Int) -> Bool {
        let found = grants[grant]
        if families[found.family].isRevoked || found.isKilled || found.issuedAt < expiredBefore { return false }
        return plan.lifetime.map { now < found.issuedAt + $0 } ?? true
    }

    /// Whether a refresh token is in force.
    func honours(_ grant: Int) -> Bool {
        grants[grant].rotatedAt == nil && !families[grants[grant].family].isRevoked
    }

    /// Whether the server honours a refresh token of the family that the store has held.
    func isAlive(_ family: Int) -> Bool {
        let isKnown = !plan.rotates || grants[families[family].newest].wasStored
        return isKnown && honours(grants[families[family].newest].refresh)
    }

    static func subject(of user: String) -> TokenSubject? { TokenSubject(issuer: "server", id: user) }
}

/// What the laws need of the server's past.
extension AuthorizationServer {
    mutating func noteStored(_ grant: Int) {
        let family = grants[grant].family
        let isNew = !families[family].wasStored
        for other in families(upTo: families[family].ordinal) where isNew && other != family {
            families[other].isRetired = true
        }
        families[family].wasStored = true
        grants[grant].wasStored = true
        guard plan.rotates else { return }
        for older in 0..<grants.count where grants[older].family == family {
            if grants[older].generation < grants[grant].generation { grants[older].isSuccessorStored = true }
        }
    }

    mutating func noteFate(_ fate: Exchange.Fate, of call: Call) {
        changeExchanges { if $0.call == call.number { $0.fate = fate } }
    }

    /// Notes that a process has released, or lost, the lease: its calls no longer keep others out.
    mutating func noteUnguarded(_ process: Int) {
        changeExchanges { if $0.process == process { $0.isUnguarded = true } }
    }

    mutating func noteCrash(of process: Int) {
        changeExchanges { if $0.process == process, $0.fate != .lost { $0.fate = .crashed } }
    }

    private mutating func changeExchanges(_ change: (inout Exchange) -> Void) {
        for token in 0..<grants.count {
            for index in 0..<grants[token].exchanges.count { change(&grants[token].exchanges[index]) }
        }
    }

    mutating func noteEnding(_ tombstone: SessionTombstone) {
        guard !tombstone.session.rawValue.isEmpty else { return }
        self[tombstone.session].isRetired = true
        if self[tombstone.session].end == nil { self[tombstone.session].end = tombstone.reason }
    }

    func families(upTo ordinal: SessionOrdinal) -> [Int] { families.indices.filter { families[$0].ordinal <= ordinal } }
}

extension Int {
    /// The number in the name of a token or session of the model.
    init(named text: String) {
        var number = 0
        for byte in text.utf8 where (48..<58).contains(byte) { number = number * 10 + Int(byte) - 48 }
        self = number
    }
}
