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

import class ContractTesting.ManualTimeSource

extension Scenarios {
    /// S29 and S30: the order of sign-ins, in a store, beside it and at the owner's followers (rule 10).
    @Suite struct OrderScenarios {
        @Test(arguments: [false, true])
        func `S29: a user whom a sign-in has replaced does not come back, though the store could not take it`(
            isOtherRunning: Bool
        ) async throws {
            try await TestApp.runWithJournal { app, failing, folder in
                let tokens = FileTokenStore(folder: folder)
                let other = isOtherRunning ? app.next(over: folder) : nil
                #expect(try await other?.network.send(.me).name ?? "ada" == "ada")

                failing.fail(.save)
                try await app.signIn("bob")
                #expect(!app.session.status.isStored)
                #expect(try await app.network.send(.me).name == "bob")
                if let other {
                    await other.session.states.first(.signedOut(.byUser))
                    #expect(await other.send(.me)?.authentication?.code == .notSignedIn)
                } else {
                    #expect(try await tokens.load() != nil, "ada's tokens are still stored")
                }

                let next = app.next(over: folder)
                #expect(try await next.session.restore() == .signedOut(.byUser))
                #expect(await next.send(.me)?.authentication?.code == .notSignedIn)
                await next.session.settle()
                #expect(try await tokens.load() == nil)
                #expect(app.backend.statistics.refreshes == .init())
            }
        }

        /// An owner of a session whose tokens followers read in a place of their own.
        private struct Owner {
            let app: TestApp
            let store: FollowedTokenStore

            /// Publishes what the store holds by now.
            func settle() async throws {
                await app.session.settle()
                try #require(await store.settle(within: TestApp.waitLimit))
            }
        }

        /// A follower whose clock is an hour ahead, or behind.
        private func follow(_ place: (any SessionSource)?, _ offset: Duration) -> SessionFollower {
            let clock = ManualTimeSource(date: Date() + offset / .seconds(1))
            return SessionFollower(place, clock: clock)
        }

        @Test(arguments: [Duration.seconds(-3_600), .seconds(3_600)])
        func `S30: a follower ends at the newest content, also where another comes late or comes back`(offset: Duration)
            async throws
        {
            let folder = try TemporaryFolder()
            let place = FileTokenStore(folder: folder.url.appendingPathComponent("followers"))
            let late = FaultyTokenStore(place)
            func store(_ place: any SharedTokenStore) -> FollowedTokenStore {
                FollowedTokenStore(FileTokenStore(folder: folder.tokens), publishing: place)
            }
            let stopped = store(late)
            try await TestApp.run(1, store: { _ in stopped }) { apps in
                let first = Owner(app: apps[0], store: stopped)
                try await first.settle()
                let follower = follow(place, offset)
                let network = first.app.unauthenticated.authenticated(by: follower)
                #expect(try await network.send(.me).name == "ada")
                let old = try Data(contentsOf: place.file)

                // The first process stops before it publishes a refresh; the second one, whose clock is behind, goes
                // on.
                let gate = late.hold(.save)
                try await first.app.session.refresh()
                try await gate.arrivals(atLeast: 1)
                var setup = first.app.setup
                setup.clock = ManualTimeSource(date: Date() - 3_600)
                let sound = store(place)
                let second = Owner(app: TestApp(first.app.backend, setup, store: sound), store: sound)
                _ = try await second.app.session.restore()
                try await second.app.auth.logout()
                await follower.states.first(.signedOut(.byUser))
                try await second.app.signIn("bob")
                try await second.settle()
                let bob = second.app.session.state
                await follower.states.first(bob)

                late.recover(.save)
                gate.open()
                try await first.settle()
                #expect(try await place.read().bundle?.session == bob.session)
                #expect(try await network.send(.me).name == "bob")

                // An old copy is replaced when an owner starts, and the user who has left is not shown again.
                try old.write(to: place.file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.file.path)
                let restarted = store(place)
                let third = Owner(app: TestApp(first.app.backend, first.app.setup, store: restarted), store: restarted)
                _ = try await third.app.session.restore()
                try await third.settle()
                let later = follow(place, offset)
                #expect(try await first.app.unauthenticated.authenticated(by: later).send(.me).name == "bob")
                #expect(follower.state == bob)
                try await third.app.auth.logout()
                await follower.states.first(.signedOut(.byUser))
                await later.states.first(.signedOut(.byUser))
            }
        }

        @Test(arguments: [Duration.seconds(-3_600), .seconds(3_600)])
        func `S30: in every order of what two users' sessions have left, a follower ends at the newest`(
            offset: Duration
        ) async throws {
            let tokens = MemoryTokenStore()
            try await TestApp.run(1, store: { _ in tokens }) { apps in
                let app = apps[0]
                var contents = [await tokens.read()]
                try await app.session.refresh()
                contents.append(await tokens.read())
                try await app.auth.logout()
                contents.append(await tokens.read())
                try await app.signIn("bob")
                contents.append(await tokens.read())
                try await app.session.refresh()
                contents.append(await tokens.read())
                let ada = SessionState.signedIn(try #require(contents[0].bundle?.session))
                for order in contents.indices.orders {
                    let follower = follow(nil, offset)
                    var isOver = false
                    for index in order {
                        isOver = isOver || index >= 2
                        follower.follow(contents[index])
                        #expect(!isOver || follower.state != ada, "\(order)")
                    }
                    #expect(follower.state == app.session.state, "\(order)")
                    let user = try await app.unauthenticated.authenticated(by: follower).send(.me)
                    #expect(user.name == "bob", "\(order)")
                }
            }
        }
    }
}

extension AsyncStream<SessionState> {
    fileprivate func first(_ state: SessionState) async { _ = await first { $0 == state } }
}

extension SessionState {
    fileprivate var session: SessionID? { if case .signedIn(let session) = self { session } else { nil } }
}

extension Range<Int> {
    fileprivate var orders: [[Int]] {
        reduce([[]]) { orders, number in
            orders.flatMap { order in (0...order.count).map { Array(order[..<$0]) + [number] + order[$0...] } }
        }
    }
}
