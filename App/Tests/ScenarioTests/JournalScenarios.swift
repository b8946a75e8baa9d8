import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import ProgramTesting
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S23: a sign-out that the store does not take, and tokens that are deleted behind the program's back. The journal
    /// is in a folder of its own.
    @Suite struct JournalScenarios {
        /// An application with a journal in files, whose user is signed in.
        private func run(
            _ body: (_ app: TestApp, _ store: FaultyTokenStore<FileTokenStore>, _ tokens: URL) async throws -> Void
        ) async throws {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let store = FaultyTokenStore(FileTokenStore(folder: folder.tokens))
            let journal = FileSessionJournal(folder: folder.url.appendingPathComponent("journal"), storeName: "files")
            try await TestApp.run(1, store: { _ in store }, { $0.journal = journal }) { apps in
                await apps[0].session.settle()
                try await body(apps[0], store, folder.tokens)
            }
        }

        /// The next process. As after a kill, the engine of the one before is not used again.
        private func next(_ app: TestApp, _ tokens: URL) -> TestApp {
            TestApp(app.backend, app.setup, store: FileTokenStore(folder: tokens))
        }

        @Test func `S23: after a sign-out that the store did not take, the next start is signed out, and revokes`()
            async throws
        {
            try await run { app, store, tokens in
                store.fail(.delete)
                app.backend.faults = FaultPlan([FaultRule("POST", "/auth/logout", .closeBeforeHandler, times: 1)])
                try await app.auth.logout()
                #expect(app.session.state == .signedOut(.byUser))
                #expect(app.session.status.isSignOutPending)
                #expect(try await FileTokenStore(folder: tokens).load() != nil, "the tokens are still stored")
                #expect(app.backend.statistics.logouts == 0)

                let next = next(app, tokens)
                #expect(try await next.session.restore() == .signedOut(.byUser))
                #expect(await next.send(.me)?.authentication?.code == .notSignedIn)
                await next.session.settle()
                #expect(app.backend.statistics.logouts == 1)
                #expect(try await FileTokenStore(folder: tokens).load() == nil)
                #expect(app.backend.statistics.refreshes == .init())
            }
        }

        @Test func `S23: deleted tokens are lost and end nothing at the server, and are used when they come back`()
            async throws
        {
            try await run { app, _, tokens in
                let file = FileTokenStore(folder: tokens).file
                let away = tokens.appendingPathComponent("away")
                try FileManager.default.moveItem(at: file, to: away)
                let lost = next(app, tokens)
                guard case .signedOut(.lost(let sighting)) = try await lost.session.restore() else {
                    Issue.record("\(lost.session.state)")
                    return
                }
                #expect(sighting?.store == "files" && sighting?.date != nil)
                #expect(await lost.send(.me)?.authentication?.code == .notSignedIn)
                await lost.session.settle()
                #expect(app.backend.statistics.logouts == 0)
                #expect(!FileManager.default.fileExists(atPath: file.path), "nothing is written")

                try FileManager.default.moveItem(at: away, to: file)
                let back = next(app, tokens)
                #expect(await back.sendAll(20).allSatisfy { $0 == nil })
                #expect(back.session.state == app.session.state)
                #expect(back.events.endings == [])
            }
        }
    }
}
