import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TokenRefresh

/// A store that no other process shares, over one that could be.
final class OwnTokenStore: TokenStore {
    let base: any TokenStore

    init(base: any TokenStore) { self.base = base }

    func load() async throws -> TokenBundle? { try await base.load() }
    func save(_ bundle: TokenBundle) async throws { try await base.save(bundle) }
    func delete() async throws { try await base.delete() }
}

/// A revocation that works, hangs or fails, and records its calls.
final class RecordingRevocation: TokenRevocationHandler {
    private let told = Locked<[TokenBundle]>([])
    private let isNarrow = Locked(true)
    private let script = Locked<(gate: Gate?, error: (any Error)?)>((nil, nil))
    private let door = Gate(isOpen: true)

    /// What was revoked, by its access token: `ada1 g1`.
    var revoked: [String] { told.withLock { $0.map(\.token.name) } }

    var affectsRevokedSessionOnly: Bool { isNarrow.withLock { $0 } }

    /// From now on a call may affect every session of the user.
    func affectsAll() { isNarrow.withLock { $0 = false } }

    /// From now on calls wait at a gate, and ignore their cancellation.
    func hold(at gate: Gate) {
        script.withLock { $0.gate = gate }
    }

    func fail(with error: any Error) {
        script.withLock { $0.error = error }
    }

    func calls(atLeast count: Int) async {
        await door.arrivals(atLeast: count)
    }

    func revoke(_ tokens: TokenBundle) async throws {
        told.withLock { $0.append(tokens) }
        await door.pass()
        let (gate, error) = script.withLock { $0 }
        await gate?.pass()
        if let error { throw error }
    }
}

/// What an engine reported, and a way to wait for it.
final class EventLog: Sendable {
    private struct State {
        var events: [SessionEvent] = []
        var watchers: [(name: String, race: Race<Void>)] = []
    }

    private let state = Locked(State())

    /// The events so far, by name.
    var names: [String] { state.withLock { $0.events.map(\.name) } }

    func append(_ event: SessionEvent) {
        let woken = state.withLock { state in
            state.events.append(event)
            defer { state.watchers.removeAll { $0.name == event.name } }
            return state.watchers.filter { $0.name == event.name }.map(\.race)
        }
        for race in woken { race.end(()) }
    }

    func count(_ name: String) -> Int {
        names.count { $0 == name }
    }

    /// Waits until an event of this name has been reported.
    func first(_ name: String) async {
        let race = Race<Void>()
        state.withLock { state in
            let isThere = state.events.contains { $0.name == name }
            if isThere { race.end(()) } else { state.watchers.append((name, race)) }
        }
        await race.value()
    }
}

extension SessionEvent {
    /// The name of the case.
    var name: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}
