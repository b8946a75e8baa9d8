package import Testing

/// Waits until a condition holds, which is called again and again.
///
/// It has no limit of its own, which a busy machine would miss: the time limit of the suite ends it.
///
/// - Throws: `CancellationError` when the task is cancelled first, as the time limit of a suite does; what the
///   condition throws.
package func until(_ condition: () async throws -> Bool) async throws {
    while !(try await condition()) {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Cancels a task, and expects that it throws `CancellationError`.
package func expectCancellation<Value: Sendable>(
    of task: Task<Value, any Error>, sourceLocation: SourceLocation = #_sourceLocation
) async {
    task.cancel()
    await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) { _ = try await task.value }
}
