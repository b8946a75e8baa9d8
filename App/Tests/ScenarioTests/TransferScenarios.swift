import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NetworkCaching
import NetworkCore
import NetworkTransfers
import ProgramTesting
import Storage
import Testing

extension Scenarios {
    /// The cache, downloads and the event stream against the server.
    @Suite struct TransferScenarios {
        // MARK: The cache

        @Test func `an article is served from the cache, and not after a change or to another user`() async throws {
            let cache = ResponseCache()
            try await TestApp.run({ $0.cache = cache }) { app in
                let draft = ArticleDraft(title: "One", content: "x")
                let id = try await app.network.send(Endpoint.create(draft)).id
                let stored = Endpoint.article(id).header("Cache-Control", "max-stale")
                let first = try await app.network.send(Endpoint.article(id))
                #expect(try await app.network.send(stored) == first)
                #expect(shown(app) == [200])
                // The token is refused, not the session: what is stored stays, and the new token asks again.
                try await app.backend.expireAccessTokens()
                #expect(try await app.network.send(stored) == first)
                #expect(try await app.network.send(Endpoint.article(id)) == first)
                #expect(shown(app) == [200, 401, 200])
                #expect(app.backend.statistics.refreshes.committed == 1)

                // A change by this client makes it forget the article; one by another client is seen by the server.
                try await app.network.send(Endpoint.update(id, ArticleChanges(title: "Two")))
                #expect(try await app.network.send(stored).title == "Two")
                let other = TestApp(app.backend, TestApp.Setup(), store: MemoryTokenStore())
                try await other.signIn("ada")
                try await other.network.send(Endpoint.update(id, ArticleChanges(title: "Three")))
                #expect(try await app.network.send(Endpoint.article(id)).title == "Three")
                #expect(shown(app) == [200, 401, 200, 200, 200])

                // Another user's session gets nothing of it.
                try await app.auth.logout()
                try await app.signIn("bob")
                #expect(try await app.network.send(stored).title == "Three")
                #expect(shown(app) == [200, 401, 200, 200, 200, 200])
            }
        }

        private func shown(_ app: TestApp) -> [Int?] {
            app.backend.journal.filter { $0.method == "GET" && $0.path.contains("/articles/") }.map(\.status)
        }

        // MARK: Downloads

        /// Registers a guest with a photo of 2 MB, and runs the body with the key of the file.
        private func withPhoto(_ body: (TestApp, String, Data, URL) async throws -> Void) async throws {
            var photo = Data([0xFF, 0xD8, 0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x10, 0x00, 0x10, 1, 1, 0x11, 0])
            photo += Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            try await TestApp.run { [photo] app in
                try await app.auth.logout()
                let user = try await app.auth.registerGuest(name: "Ada", photo: photo)
                let key = try #require(user.profileImageKey).rawValue
                try await body(app, key, photo, folder.url.appending(path: "photo.jpg"))
            }
        }

        private func statuses(_ app: TestApp) -> [Int?] {
            app.backend.journal.filter { $0.path.contains("/files/") }.map(\.status)
        }

        @Test func `a download goes on after lost connections and an expired token`() async throws {
            try await withPhoto { app, key, photo, target in
                app.backend.faults = FaultPlan([
                    FaultRule("GET", "/files/*", .cutResponse(afterBytes: 700_000), times: 1)
                ])
                try await app.backend.expireAccessTokens()
                let file = try await app.network.download(Endpoint<Void>.get("files/\(key)"), to: target)
                #expect(try Data(contentsOf: target) == photo)
                #expect(file.resumptions <= 1)
                app.backend.faults = FaultPlan([
                    FaultRule("GET", "/files/*", .cutResponse(afterBytes: 700_000), times: 2)
                ])
                let again = try await app.network.download(Endpoint<Void>.get("files/\(key)"), to: target)
                #expect(try Data(contentsOf: target) == photo)
                #expect(again.resumptions == 2 && statuses(app).suffix(3) == [200, 206, 206])
                #expect(app.backend.statistics.refreshes.committed == 1)
            }
        }

        @Test func `a later call continues the file, and starts again when the file has changed`() async throws {
            try await withPhoto { app, key, photo, target in
                var options = DownloadOptions()
                options.resumption = .acrossCalls
                options.maximumResumptions = 0
                let endpoint = Endpoint<Void>.get("files/\(key)")
                for isChanged in [false, true] {
                    app.backend.faults = FaultPlan([
                        FaultRule("GET", "/files/*", .cutResponse(afterBytes: 700_000), times: 1)
                    ])
                    await #expect(throws: NetworkError.self) {
                        try await app.network.download(endpoint, to: target, options: options)
                    }
                    let content = isChanged ? Data(photo.reversed()) : photo
                    if isChanged { #expect(try await app.backend.replaceFile(key, with: content)) }
                    let file = try await app.network.download(endpoint, to: target, options: options)
                    #expect(try Data(contentsOf: target) == content)
                    #expect(statuses(app).last == (isChanged ? 200 : 206))
                    #expect(file.size == content.count)
                }
                let left = try FileManager.default.contentsOfDirectory(
                    atPath: target.deletingLastPathComponent().path)
                #expect(left == ["photo.jpg"])
            }
        }

        // MARK: Events

        @Test func `no event is lost or repeated, over an expired token and a restart of the server`() async throws {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            var configuration = DevBackend.Configuration()
            configuration.database = .file(folder.url.appending(path: "db").path)
            configuration.limits.eventRetry = .milliseconds(10)
            configuration.limits.eventHeartbeat = .seconds(3600)
            var setup = TestApp.Setup()
            setup.server = configuration
            let first = try await DevBackend.start(configuration)
            let app = TestApp(first, setup, store: MemoryTokenStore())
            try await app.signIn("ada")
            var options = EventStreamOptions()
            options.maximumFailures = 1_000
            options.maximumPause = .milliseconds(50)
            var received: [String] = []
            try await create(10, app)
            // Without an identifier a stream starts at the newest event.
            options.lastEventID = "0"
            var events = app.network.events(Endpoint<Void>.get("articles/events"), options: options).makeAsyncIterator()
            for _ in 0..<10 { received.append(try #require(try await events.next()).id) }
            try await first.expireAccessTokens()
            try await create(10, app)
            for _ in 0..<10 { received.append(try #require(try await events.next()).id) }
            #expect(first.statistics.refreshes.committed == 1)

            configuration.port = try #require(first.origin.port)
            await first.stop()
            let second = try await DevBackend.start(configuration)
            try await create(10, app)
            for _ in 0..<10 { received.append(try #require(try await events.next()).id) }
            #expect(received == (1...30).map(String.init))
            #expect(second.statistics.refreshes.received == 0)
            await second.stop()
        }

        private func create(_ count: Int, _ app: TestApp) async throws {
            for number in 0..<count {
                _ = try await app.network.send(Endpoint.create(ArticleDraft(title: "\(number)", content: "x")))
            }
        }
    }
}
