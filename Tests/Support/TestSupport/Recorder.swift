import ConcurrencyPrimitives

/// Collects the values that an observer or a progress handler receives.
package final class Recorder<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    package init() {}

    package var values: [Value] { state.withLock { $0 } }

    package func record(_ value: Value) { state.withLock { $0.append(value) } }
}
