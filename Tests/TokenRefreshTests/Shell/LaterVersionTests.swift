import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// G36: an engine over a file that a later version of the program has written, as after an update of the other program
/// that shares it, or after going back.
@Suite(.timeLimit(.minutes(10))) struct LaterVersionTests {
    private let temporary = TemporaryFolder()
    private let clock = ManualTimeSource()
    private let store: FileTokenStore
    private let later = Data(#"{"format":"latchkey-tokens","version":1000,"tokens":[]}"#.utf8)

    init() {
        store = FileTokenStore(folder: temporary.fresh(), clock: clock)
    }

    private func writeLater() throws {
        try later.write(to: store.file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.file.path)
    }

    private var isUntouched: Bool { (try? Data(contentsOf: store.file)) == later }

    @Test func `G36: a running engine makes no call, writes nothing, says why, and keeps the session`() async throws {
        try await store.save(.fixture())
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: store, handler, clock: clock)
        let token = try await engine.token()
        try writeLater()
        for _ in 0..<3 {
            let error = await #expect(throws: AuthenticationError.self) { try await engine.refresh() }
            #expect(error?.code == .storeUnavailable)
            #expect((error?.cause as? TokenStoreError)?.code == .unsupportedVersion)
            clock.advance(by: .seconds(600))
        }
        #expect(handler.calls.isEmpty && isUntouched)
        #expect(engine.state == .signedIn(token.session))
        #expect(try await engine.token() == token, "a valid token is used")
    }

    @Test func `G36: tokens that were not stored in time are kept in memory, and replace nothing`() async throws {
        let faulty = FaultyTokenStore(store)
        try await store.save(.fixture())
        let handler = ScriptedRefreshHandler()
        let engine = TokenRefreshCoordinator(over: faulty, handler, clock: clock)
        _ = try await engine.token()
        faulty.fail(.save)
        try await engine.refresh()
        #expect(handler.calls.count == 1 && !engine.status.isStored)
        try writeLater()
        faulty.recover(.save)
        for _ in 0..<5 { try await clock.advance(by: .seconds(60), whenAsleep: 1) }
        #expect(isUntouched && !engine.status.isStored)
        #expect(try await engine.token().generation == 1)
    }

    @Test func `G36: the end of a session that has no refresh token leaves it alone`() async throws {
        let engine = TokenRefreshCoordinator(over: store, ScriptedRefreshHandler(), clock: clock)
        try await engine.signIn(TokenRefreshResult(accessToken: "access-1", expiresIn: .seconds(600)))
        try writeLater()
        clock.advance(by: .seconds(601))
        let error = await #expect(throws: AuthenticationError.self) { try await engine.token() }
        #expect(error?.code == .noRefreshToken)
        #expect(await engine.settle())
        #expect(isUntouched && engine.status.isStored)
        #expect(engine.status.lastEnding?.isExpired == true)
    }

    @Test func `G36: at the start the session is unknown, and neither ended nor replaced`() async throws {
        try await store.save(.fixture())
        try writeLater()
        let engine = TokenRefreshCoordinator(over: store, ScriptedRefreshHandler(), clock: clock)
        let error = await #expect(throws: AuthenticationError.self) { _ = try await engine.restore() }
        #expect((error?.cause as? TokenStoreError)?.code == .unsupportedVersion)
        #expect(engine.state == .unknown && isUntouched)
    }

    @Test func `G36: a sign-in lasts for this process and replaces nothing; a sign-out removes it`() async throws {
        try await store.save(.fixture())
        try writeLater()
        let engine = TokenRefreshCoordinator(over: store, ScriptedRefreshHandler(), clock: clock)
        try await engine.signIn(TokenRefreshResult(accessToken: "access-2", refreshToken: "refresh-2"))
        #expect(try await engine.token().value == "access-2")
        #expect(isUntouched && !engine.status.isStored)
        #expect(engine.status.storeFailure?.code == .unsupportedVersion)
        try await engine.signOut()
        #expect(try await store.read() == .empty)
    }
}
