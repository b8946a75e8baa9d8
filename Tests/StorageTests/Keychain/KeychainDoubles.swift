import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import Storage

/// The four calls, as words.
enum KeychainCall: String, Sendable, CaseIterable {
    case copyMatching
    case add
    case update
    case delete
}

/// A Keychain that records its calls, and whose results can be scripted.
final class ScriptedKeychain: KeychainItems {
    struct Asked: Sendable, Hashable {
        let call: KeychainCall
        let location: KeychainLocation
        var accessibility: KeychainAccessibility?
    }

    private struct State {
        var asked: [Asked] = []
        var results: [KeychainCall: [KeychainStatus?]] = [:]
        var standing: [KeychainCall: KeychainStatus] = [:]
        var before: [KeychainCall: @Sendable () -> Void] = [:]
    }

    let base: any KeychainItems
    private let state = Locked(State())

    init(_ base: any KeychainItems) {
        self.base = base
    }

    var hasFileBasedKeychain: Bool { base.hasFileBasedKeychain }
    var asked: [Asked] { state.withLock { $0.asked } }
    var calls: [KeychainCall] { asked.map(\.call) }

    /// Scripts the next results of a call. `nil`, and all later results, are those of the underlying Keychain.
    func script(_ call: KeychainCall, _ results: KeychainStatus?...) {
        state.withLock { $0.results[call] = results }
    }

    /// Fails every call of a kind that has no scripted result.
    func fail(_ call: KeychainCall, with status: KeychainStatus) {
        state.withLock { $0.standing[call] = status }
    }

    /// Runs a closure before the next call of a kind reaches the underlying Keychain.
    func before(_ call: KeychainCall, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.before[call] = body }
    }

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        try ask(Asked(call: .copyMatching, location: query.location))
        return try base.copyMatching(query)
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        try ask(Asked(call: .add, location: query.location, accessibility: values.accessibility))
        try base.add(query, values)
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        try ask(Asked(call: .update, location: query.location, accessibility: values.accessibility))
        try base.update(query, to: values)
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        try ask(Asked(call: .delete, location: query.location))
        try base.delete(query)
    }

    private func ask(_ asked: Asked) throws(KeychainStatus) {
        let (failure, body) = state.withLock { state -> (KeychainStatus?, (@Sendable () -> Void)?) in
            state.asked.append(asked)
            var failure = state.standing[asked.call]
            if let next = state.results[asked.call]?.first {
                state.results[asked.call]?.removeFirst()
                failure = next
            }
            return (failure, state.before.removeValue(forKey: asked.call))
        }
        body?()
        if let failure { throw failure }
    }
}

/// A Keychain whose program dies: after some calls, further ones have no effect.
///
/// The last effective call may return a result or an error.
final class DyingKeychain: KeychainItems {
    private struct State {
        var callsLeft: Int
        var isDead = false
    }

    private let base: any KeychainItems
    private let returnsLastResult: Bool
    private let state: Locked<State>

    init(_ base: any KeychainItems, dyingAfter calls: Int, returnsLastResult: Bool) {
        self.base = base
        self.returnsLastResult = returnsLastResult
        state = Locked(State(callsLeft: calls))
    }

    var hasFileBasedKeychain: Bool { base.hasFileBasedKeychain }
    var isDead: Bool { state.withLock { $0.isDead } }

    func copyMatching(_ query: KeychainQuery) throws(KeychainStatus) -> [KeychainItem] {
        try live { () throws(KeychainStatus) in try base.copyMatching(query) }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        try live { () throws(KeychainStatus) in try base.add(query, values) }
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        try live { () throws(KeychainStatus) in try base.update(query, to: values) }
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        try live { () throws(KeychainStatus) in try base.delete(query) }
    }

    private func live<Value>(_ call: () throws(KeychainStatus) -> Value) throws(KeychainStatus) -> Value {
        let left = state.withLock { state in
            state.callsLeft -= 1
            if state.callsLeft < 0 { state.isDead = true }
            return state.callsLeft
        }
        guard left >= 0 else { throw .notAvailable }
        let value = try call()
        guard left > 0 || returnsLastResult else {
            state.withLock { $0.isDead = true }
            throw .notAvailable
        }
        return value
    }
}
