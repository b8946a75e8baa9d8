#if canImport(Testing)
public import Testing

/// Gives a test a transport of its own, and fails it when stubs are left over.
///
/// ```swift
/// @Test(.stubs(.get("articles") ~> .status(401), .get("articles") ~> .envelope(articles)))
/// func retriesOnce() async throws {
///     let network = NetworkClient(baseURL: url, transport: StubTransport.current)
///     …
/// }
/// ```
///
/// The transport is bound to the test's task and to nothing global, so that tests run side by side.
public struct StubsTrait: TestTrait, TestScoping {
    let stubs: [Stub]

    /// Runs a test with its transport.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case of it.
    ///   - function: The test's body.
    /// - Throws: What the test throws.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let transport = StubTransport(stubs)
        try await StubTransport.$current.withValue(transport) {
            try await function()
        }
        let leftovers = transport.leftovers.map(\.request.description)
        if !leftovers.isEmpty {
            Issue.record("nobody asked for \(leftovers)", sourceLocation: test.sourceLocation)
        }
    }
}

extension Trait where Self == StubsTrait {
    /// Gives a test a transport of its own, as ``StubTransport/current``, and fails it when stubs are left over.
    ///
    /// - Parameter stubs: What to answer.
    /// - Returns: The trait.
    public static func stubs(_ stubs: Stub...) -> StubsTrait {
        StubsTrait(stubs: stubs)
    }
}
#endif
