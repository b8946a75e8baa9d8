import AuthInterface
import ConcurrencyPrimitives

@testable import Storage

/// The four calls, as words.
enum KeychainCall: String, Sendable, CaseIterable {
    case copyMatching
    case add
    case update
    case delete
}

/// A Keychain that records its calls, whose results can be scripted, and whose program may die.
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
        var isDead = false
    }

    private let base: any KeychainItems
    private let lifetime: Int
    private let returnsLastResult: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - base: The underlying Keychain.
    ///   - lifetime: The number of calls after which the program dies: further ones have no effect.
    ///   - returnsLastResult: Whether the last call that has an effect returns its result, or an error.
    init(_ base: any KeychainItems, dyingAfter lifetime: Int = .max, returnsLastResult: Bool = true) {
        self.base = base
        self.lifetime = lifetime
        self.returnsLastResult = returnsLastResult
    }

    var hasFileBasedKeychain: Bool { base.hasFileBasedKeychain }
    var asked: [Asked] { state.withLock { $0.asked } }
    var calls: [KeychainCall] { asked.map(\.call) }
    var isDead: Bool { state.withLock { $0.isDead } }

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
        try perform(Asked(call: .copyMatching, location: query.location)) { () throws(KeychainStatus) in
            try base.copyMatching(query)
        }
    }

    func add(_ query: KeychainQuery, _ values: KeychainValues) throws(KeychainStatus) {
        let asked = Asked(call: .add, location: query.location, accessibility: values.accessibility)
        try perform(asked) { () throws(KeychainStatus) in try base.add(query, values) }
    }

    func update(_ query: KeychainQuery, to values: KeychainValues) throws(KeychainStatus) {
        let asked = Asked(call: .update, location: query.location, accessibility: values.accessibility)
        try perform(asked) { () throws(KeychainStatus) in try base.update(query, to: values) }
    }

    func delete(_ query: KeychainQuery) throws(KeychainStatus) {
        try perform(Asked(call: .delete, location: query.location)) { () throws(KeychainStatus) in
            try base.delete(query)
        }
    }

    private func perform<Value>(
        _ asked: Asked, _ call: () throws(KeychainStatus) -> Value
    ) throws(KeychainStatus) -> Value {
        let (number, failure, body) = state.withLock { state in
            state.asked.append(asked)
            var failure = state.standing[asked.call]
            if let next = state.results[asked.call]?.first {
                state.results[asked.call]?.removeFirst()
                failure = next
            }
            return (state.asked.count, failure, state.before.removeValue(forKey: asked.call))
        }
        guard number <= lifetime else { throw die() }
        body?()
        if let failure { throw failure }
        let value = try call()
        guard number < lifetime || returnsLastResult else { throw die() }
        return value
    }

    private func die() -> KeychainStatus {
        state.withLock { $0.isDead = true }
        return .notAvailable
    }

    /// Runs a program that dies after the first call, the second, and so on until it completes. The last call that has
    /// an effect returns an error, and in later runs its result. The body runs the program and examines the model.
    /// The result is the number of later runs.
    @discardableResult static func forEveryDeath(
        over makeModel: () throws -> ModelKeychain,
        _ body: (_ model: ModelKeychain, _ dying: ScriptedKeychain) async throws -> Void
    ) async throws -> Int {
        var runs = 0
        for returnsLastResult in [false, true] {
            for calls in 0... {
                let model = try makeModel()
                let dying = ScriptedKeychain(model, dyingAfter: calls, returnsLastResult: returnsLastResult)
                try await body(model, dying)
                runs = calls + 1
                if !dying.isDead { break }
            }
        }
        return runs
    }
}
