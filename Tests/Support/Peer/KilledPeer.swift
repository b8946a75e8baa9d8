import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import Storage
import TokenRefresh

#if PostgreSQL
import PostgreSQLStorage
#endif

/// A process that begins or ends a session over the one of `ada1`, and is killed at one point of it.
struct KilledPeer: Codable, Sendable {
    enum Act: String, Codable, CaseIterable { case signIn, signOut, rejection, stepUp }

    /// Once the journal has the note, once the store is written too, and once the note is removed.
    enum Point: String, Codable, CaseIterable { case noted, stored, settled }

    /// What the store does from the act on. An `emptied` one loses its content after the kill.
    enum Fault: String, Codable, CaseIterable { case none, unreadable, unwritable, emptied }

    let place: KilledPlace
    let act: Act
    let point: Point
    let fault: Fault

    /// Performs the act. The process ends by the signal at its point, or at last here.
    func run() async {
        let trigger = KillTrigger(point: point, fault: fault)
        let store = ArmedStore(base: place.store(), trigger: trigger)
        let session = TokenRefreshCoordinator(
            store: place.kind == .plain ? PlainStore(base: store) : store,
            handler: ScriptedRefreshHandler(
                otherwise: .custom { _, _ in
                    trigger.arm()
                    throw TokenRefreshError.rejected
                }),
            journal: ArmedJournal(base: place.journal(of: "a"), trigger: trigger), policy: .patient)
        guard (try? await session.restore()) != nil else { return }
        if act != .rejection { trigger.arm() }
        switch act {
        case .signIn: try? await session.signIn(.tokens("ada2", 0))
        case .signOut: try? await session.signOut()
        case .rejection: _ = try? await session.refresh()
        case .stepUp: try? await session.stepUp(.tokens("ada1", 1))
        }
        kill(getpid(), SIGKILL)
    }
}

/// The store and the journals of the processes.
struct KilledPlace: Codable, Sendable {
    enum Kind: Codable, Equatable {
        case shared, plain
        case postgreSQL(connection: String, account: String)
    }

    let folder: URL
    let kind: Kind

    func store() -> any SharedTokenStore {
        #if PostgreSQL
        if case .postgreSQL(let connection, let account) = kind {
            return PostgreSQLTokenStore(connection: connection, account: account, cipher: UnencryptedTokenCipher())
        }
        #endif
        return FileTokenStore(folder: folder.appendingPathComponent("tokens"))
    }

    func journal(of host: String) -> FileSessionJournal {
        FileSessionJournal(folder: folder.appendingPathComponent("journal-\(host)"), storeName: "the store")
    }

    /// Starts a process of a host, whose clock may be ahead, and returns what its user sees.
    func start(host: String, clockAhead: TimeInterval) async throws -> SessionState {
        let session = session(of: host, clockAhead: clockAhead)
        let state = try await session.restore()
        await session.settle(within: .seconds(600))
        return state
    }

    /// The session as an ordinary process has it.
    func session(of host: String, clockAhead: TimeInterval = 0) -> TokenRefreshCoordinator {
        let store = store()
        return TokenRefreshCoordinator(
            store: kind == .plain ? PlainStore(base: store) : store,
            handler: ScriptedRefreshHandler(otherwise: .failure(TokenRefreshError.rejected)),
            journal: journal(of: host), policy: .patient, clock: ClockAhead(seconds: clockAhead))
    }
}

extension TokenRefreshPolicy {
    /// No wait ends because the machine of a test is slow.
    fileprivate static let patient: Self = {
        var policy = TokenRefreshPolicy()
        policy.deadline = .seconds(3_600)
        policy.storeDeadline = .seconds(3_600)
        return policy
    }()
}

extension TokenRefreshResult {
    static func tokens(_ user: String, _ generation: Int) -> TokenRefreshResult {
        var tokens = TokenRefreshResult(
            accessToken: "access-\(user)-\(generation)", refreshToken: "refresh-\(user)-\(generation)")
        tokens.subject = TokenSubject(issuer: "https://issuer.example", id: user)
        return tokens
    }
}

/// Ends the process at a point of the act.
private final class KillTrigger: Sendable {
    private let point: KilledPeer.Point
    private let fault: KilledPeer.Fault
    private let state = Locked((isArmed: false, hasWritten: false))

    init(point: KilledPeer.Point, fault: KilledPeer.Fault) { (self.point, self.fault) = (point, fault) }

    func arm() { state.withLock { $0.isArmed = true } }

    func fails(by fault: KilledPeer.Fault) -> Bool { self.fault == fault && state.withLock { $0.isArmed } }

    func willWrite() { reach(.noted) }

    func didWrite() {
        reach(.stored)
        state.withLock { $0.hasWritten = $0.isArmed }
    }

    func didUpdateJournal() { if state.withLock({ $0.hasWritten }) { reach(.settled) } }

    private func reach(_ point: KilledPeer.Point) {
        if point == self.point, state.withLock({ $0.isArmed }) { kill(getpid(), SIGKILL) }
    }
}

private struct ArmedStore: SharedTokenStore {
    let base: any SharedTokenStore
    let trigger: KillTrigger

    func read() async throws -> StoredSession {
        if trigger.fails(by: .unreadable) { throw TokenStoreError(.unavailable, reason: "unreadable") }
        return try await base.read()
    }

    func update(_ change: @escaping StoreChange) async throws {
        trigger.willWrite()
        defer { trigger.didWrite() }
        if trigger.fails(by: .unwritable) { throw TokenStoreError(.unavailable, reason: "unwritable") }
        guard trigger.fails(by: .unreadable) else { return try await base.update(change) }
        try await base.update { _ in change(.failure(TokenStoreError(.unavailable, reason: "unreadable"))) }
    }

    func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        try await base.lease(waitingAtMost: limit, whileHeld: report)
    }

    var changes: AsyncStream<Void> { base.changes }
}

/// A store of one process: it knows no other one, and keeps no end of a session.
private struct PlainStore: TokenStore {
    let base: any SharedTokenStore

    func load() async throws -> TokenBundle? { try await base.read().bundle }
    func save(_ bundle: TokenBundle) async throws { try await base.update { _ in .active(bundle) } }
    func delete() async throws { try await base.update { _ in .empty } }
}

private struct ArmedJournal: SessionJournal {
    let base: FileSessionJournal
    let trigger: KillTrigger

    var storeName: String { base.storeName }
    var changes: AsyncStream<Void> { base.changes }
    func read() async throws -> SessionJournalEntry { try await base.read() }

    func update(
        _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
    ) async throws -> SessionJournalEntry {
        defer { trigger.didUpdateJournal() }
        return try await base.update(change)
    }
}

/// A host whose wall clock is ahead.
private struct ClockAhead: TimeSource {
    let seconds: TimeInterval
    let system = SystemTimeSource()

    var uptime: Duration { system.uptime }
    var date: Date { system.date + seconds }
    var asleep: Duration { system.asleep }
    func sleep(until deadline: Duration) async throws { try await system.sleep(until: deadline) }
}

/// What holds whenever the process was killed.
struct KillTable {
    let peer: KilledPeer

    /// The rows. `kill` runs a process with the arguments until it has ended.
    ///
    /// - Returns: What does not hold.
    static func violations(
        _ kind: (URL) -> KilledPlace.Kind, _ act: KilledPeer.Act, folder: () -> URL,
        kill: ([String]) async throws -> Void
    ) async throws -> [String] {
        var violations: [String] = []
        for point in KilledPeer.Point.allCases {
            for fault in KilledPeer.Fault.allCases {
                let folder = folder()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                let place = KilledPlace(folder: folder, kind: kind(folder))
                let table = KillTable(peer: KilledPeer(place: place, act: act, point: point, fault: fault))
                let first = place.session(of: "a")
                try await first.signIn(.tokens("ada1", 0))
                await first.settle(within: .seconds(600))
                let former = first.state
                try await kill([String(decoding: try JSONEncoder().encode(table.peer), as: UTF8.self)])
                if fault == .emptied { try await place.store().update { _ in .empty } }
                for (start, state) in try await table.starts() {
                    guard let wrong = table.violation(state, former: former) else { continue }
                    violations.append("\(act), killed when \(point), store \(fault), \(start): \(wrong)")
                }
            }
        }
        return violations
    }

    /// The starts after the kill. The journal is that of a host: what only the journal of host a has taken is fulfilled
    /// by host a, and then holds everywhere.
    private func starts() async throws -> [(String, SessionState)] {
        let place = peer.place
        guard case .postgreSQL = place.kind else {
            return [("start", try await place.start(host: "a", clockAhead: 0))]
        }
        _ = try await place.start(host: "b", clockAhead: 600)
        return [
            ("start of host a", try await place.start(host: "a", clockAhead: 0)),
            ("start of host b", try await place.start(host: "b", clockAhead: 600)),
        ]
    }

    private func violation(_ state: SessionState, former: SessionState) -> String? {
        let isPlain = peer.place.kind == .plain
        let fault = peer.fault
        let isStored = peer.point != .noted && fault == .none
        switch (peer.act, state) {
        case (.signIn, .signedIn): return state == former ? "the former user is back" : nil
        case (.signIn, .signedOut): return isStored ? "the new user is signed out: \(state)" : nil
        case (.signOut, .signedOut(let reason)):
            // A store without tombstones, and a journal without a note, have nothing of the session any more.
            let isForgotten = fault == .emptied || isPlain && peer.point == .settled
            return isForgotten || reason == .byUser ? nil : "the reason is \(reason)"
        case (.rejection, .signedOut): return nil
        case (.rejection, .signedIn):
            // The server says it again. Nothing else is certain before the store has it.
            return isStored || isPlain && fault == .none ? "the rejected session goes on" : nil
        case (.stepUp, .signedIn): return state == former ? nil : "another session"
        case (.stepUp, .signedOut): return fault == .emptied ? nil : "the user is signed out: \(state)"
        default: return "the state is \(state)"
        }
    }
}
