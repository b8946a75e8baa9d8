package import NetworkCore
package import Testing

/// The network error that a call throws. Another error, or none, is an issue of the test.
@discardableResult
package func networkError<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, of call: () async throws -> Value
) async -> NetworkError? {
    await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) { _ = try await call() }
}
