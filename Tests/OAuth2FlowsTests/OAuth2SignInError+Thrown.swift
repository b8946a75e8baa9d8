import OAuth2Flows
import Testing

/// The error that a sign-in throws. Another error, or none, is an issue of the test.
func signInError<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    of call: () async throws -> Value
) async -> OAuth2SignInError? {
    await #expect(throws: OAuth2SignInError.self, sourceLocation: sourceLocation) { _ = try await call() }
}
