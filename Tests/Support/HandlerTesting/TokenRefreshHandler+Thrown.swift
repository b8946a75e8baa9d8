package import AuthInterface
package import Testing

extension TokenRefreshHandler {
    /// The error of a refresh. Another error, or none, is an issue of the test.
    @discardableResult
    package func refreshError(
        _ request: TokenRefreshRequest = .fixture, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> TokenRefreshError? {
        await #expect(throws: TokenRefreshError.self, sourceLocation: sourceLocation) { try await refresh(request) }
    }
}
