import ConcurrencyPrimitives

/// A call of an engine's handler, as the tasks see it that run in it. A task that the handler starts inherits it, and
/// may go on after the call has ended.
final class HandlerCall: Sendable {
    @TaskLocal private static var current: HandlerCall?

    private let engine: ObjectIdentifier
    private let isRunning = Locked(true)

    private init(of engine: TokenRefreshCoordinator) { self.engine = ObjectIdentifier(engine) }

    static func run<Value: Sendable>(
        of engine: TokenRefreshCoordinator, _ handler: @Sendable () async throws -> Value
    ) async throws -> Value {
        let call = HandlerCall(of: engine)
        defer { call.isRunning.withLock { $0 = false } }
        return try await $current.withValue(call, operation: handler)
    }

    /// Whether the current task is part of a call of the engine's handler: the engine may wait for it.
    static func isRunning(in engine: TokenRefreshCoordinator) -> Bool {
        guard let current, current.engine == ObjectIdentifier(engine) else { return false }
        return current.isRunning.withLock { $0 }
    }
}
