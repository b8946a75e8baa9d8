import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Gives each case of a test a home folder: ``home``.
struct HomeTrait: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: Home?

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await Self.$current.withValue(try Self.current ?? Home()) { try await function() }
    }
}

/// Starts a server for each case of a test, ``backend``, at which Ada has signed in from ``home``.
struct ServerTrait: TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: (base: [String], backend: DevBackend)?

    fileprivate var signsIn = true
    fileprivate var flags: [String] = []
    fileprivate var configure: @Sendable (inout DevBackend.Configuration) -> Void = { _ in }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let home = try HomeTrait.current ?? Home()
        var configuration = DevBackend.Configuration()
        configure(&configuration)
        try await DevBackend.withServer(configuration) { backend in
            let base = ["--base-url", backend.baseURL.absoluteString] + flags
            if signsIn {
                let login = try await home.run(Home.login() + base)
                #expect(login.status == 0, "\(login.errors)")
            }
            try await HomeTrait.$current.withValue(home) {
                try await Self.$current.withValue((base, backend)) { try await function() }
            }
        }
    }

    fileprivate static var running: (base: [String], backend: DevBackend) {
        guard let current else { preconditionFailure("the test has no trait .signedIn or .server") }
        return current
    }
}

extension Trait where Self == HomeTrait {
    static var home: Self { Self() }
}

extension Trait where Self == ServerTrait {
    static var server: Self { Self(signsIn: false) }

    static var signedIn: Self { Self() }

    /// With a server of another configuration, whose dialect the flags name.
    static func signedIn(
        flags: [String] = [], _ configure: @escaping @Sendable (inout DevBackend.Configuration) -> Void
    ) -> Self { Self(flags: flags, configure: configure) }
}

/// The home folder of a suite with the trait `home`.
var home: Home {
    guard let home = HomeTrait.current else { preconditionFailure("the suite has no trait .home") }
    return home
}

/// The server of a test with the trait `signedIn` or `server`.
var backend: DevBackend { ServerTrait.running.backend }

/// The arguments that name that server.
var base: [String] { ServerTrait.running.base }
