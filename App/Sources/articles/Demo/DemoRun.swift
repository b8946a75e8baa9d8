import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCore
import OAuth2Flows

/// One run of the demo. Each step records the observations for its claims.
struct DemoRun {
    let command: DemoCommand
    let console: Console
    let backend: DevBackend
    let folder: URL
    let recording: TrafficRecording

    let recorder = EventRecorder()
    let start = ContinuousClock.now
    var claims = Claims()
    var secrets = SecretSearch()

    var bundles: [TokenBundle] = []
    var failures = 0
    var refreshes = 0
    /// How often the session had ended where it must not.
    var signOuts = 0
    /// The requests with old tokens after the sign-out, which the server must refuse.
    var requestsWithOldTokens = 0

    /// Performs the steps. A step that throws ends the run; the claims of later steps then do not hold.
    mutating func perform(fitter: PhotoFitter) async -> DemoReport {
        var missing = "not observed"
        do {
            print("server", "\(backend.origin.absoluteString), with its database in a temporary folder")
            let photo = try preparePhoto(fitter)
            let graph = compose()
            let articles = try await register(photo, with: graph)
            try await sendAll(articles, with: graph)
            let restarted = compose()
            try await restart(with: restarted)
            try await signOut(with: restarted)
        } catch {
            missing = "not observed, because \(Failure(error).message)"
        }
        return DemoReport(self, missing: missing)
    }

    /// The object graph over the run's own store, as a new process creates it.
    private func compose() -> AppGraph {
        var configuration = AppConfiguration(
            baseURL: backend.baseURL, store: .file(folder: folder.appendingPathComponent("tokens")))
        configuration.expiredStatus = command.expired.status.rawValue
        if command.refresh == .oauth2 {
            let client = backend.configuration.oauth2Client
            configuration.refresh = .oauth2(.basic(id: client.id, secret: client.secret ?? ""))
        }
        // With fewer connections, fewer requests would be refused at the same time.
        let transport = recording.transport(PlatformTransport.make(connectionsPerOrigin: 64))
        return AppGraph(configuration, transport: transport, observers: [recorder] + recording.observers)
    }

    mutating func recordTokens(of graph: AppGraph) async throws {
        if command.refresh == .oauth2 { backend.configuration.oauth2Client.secret.map { secrets.add($0) } }
        guard let bundle = try await graph.store.load(), bundle != bundles.last else { return }
        secrets.add(bundle)
        bundles.append(bundle)
    }

    func print(_ title: String, _ text: String) {
        console.print("  \(title.fitted(to: 9))\(text)")
    }
}

extension DemoRun {
    mutating func preparePhoto(_ fitter: PhotoFitter) throws -> FittedPhoto {
        let jpeg = try SamplePhoto.jpeg(codec: fitter.codec)
        let photo = try fitter.fit(jpeg)
        print(
            "photo",
            "\(SamplePhoto.size), \(jpeg.count.inKilobytes), rotated (Exif \(SamplePhoto.orientation.rawValue))"
                + " → \(photo.size), \(photo.jpeg.count.inKilobytes), upright")
        return photo
    }

    /// Signs in as a guest, creates an article, downloads the photo, and returns the server's articles.
    mutating func register(_ photo: FittedPhoto, with graph: AppGraph) async throws -> [Article.ID] {
        let bar = ProgressBar("upload", on: console)
        let user = try await graph.auth.registerGuest(name: "Ada", photo: photo.jpeg) { bar.show($0) }
        bar.finish()
        try await recordTokens(of: graph)
        let registrations = backend.statistics.registrations
        claims.record(
            .registered, registrations == 1 && bundles.count == 1,
            "\(user.map { "user \($0.id), \($0.name)" } ?? "no user"); the server counts \(registrations) registration")

        try await graph.articles.create(ArticleDraft(title: "From the hills", content: "The sun is about to set."))
        let ids = try await graph.articles.page().items.map(\.id)
        guard let key = user?.profileImageKey else {
            claims.record(.fitted, false, "the server has no photo of the guest")
            return ids
        }
        let stored = try await graph.network.send(.file(key))
        let header = try ImageHeader(parsing: stored)
        let isFit = header.size.width <= 1024 && header.size.height <= 1024 && stored.count <= 5 * 1024 * 1024
        let comparison = stored == photo.jpeg ? "unchanged" : "changed"
        claims.record(
            .fitted, isFit && stored == photo.jpeg,
            "\(header.size), \(stored.count.inKilobytes), downloaded \(comparison) from the server")
        return ids
    }

    /// Expires the access token at the server and sends all requests concurrently.
    mutating func sendAll(_ ids: [Article.ID], with graph: AppGraph) async throws {
        try await backend.expireAccessTokens()
        let before = backend.statistics
        let results = await sendRequests(graph.articles, ids)
        let after = backend.statistics
        try await recordTokens(of: graph)

        if case .signedIn = graph.session.state {} else { signOuts += 1 }
        failures = results.count { $0 != nil }
        refreshes = after.refreshes.received - before.refreshes.received
        let refused = refusals(after) - refusals(before)
        let reason = results.compactMap(\.self).first.map { "; the first failure: \(Failure($0).message)" } ?? ""
        claims.record(
            .allSucceed, failures == 0 && refused > 0 && results.count == command.requests,
            "\(results.count - failures) of \(command.requests) succeeded; the server had refused \(refused) with "
                + "\(command.expired.status.rawValue)\(reason)")
        claims.record(
            .oneRefresh, refreshes == 1 && after.refreshes.committed - before.refreshes.committed == 1,
            "the server counts \(refreshes)\(refusalsBeforeAndAfter)")
    }

    /// How many requests were refused before the refresh had ended, and how many after it (G2).
    private var refusalsBeforeAndAfter: String {
        let spans = CallSpan.spans(of: recorder.events, baseURL: backend.baseURL.absoluteString)
        guard let done = spans.last(where: \.isRefresh)?.end else { return "" }
        let refusals = spans.filter { $0.attempts.count > 1 }.compactMap { $0.attempts.first?.end }
        let late = refusals.count { $0 > done }
        return "; \(refusals.count - late) requests waited for it, \(late) were refused after it and caused no other"
    }

    /// Sends all requests concurrently: every fourth for the list, the others for one article each. Returns the error
    /// of each request; `nil` for one that succeeded.
    private func sendRequests(_ articles: ArticleService, _ ids: [Article.ID]) async -> [(any Error)?] {
        await withTaskGroup(of: (any Error)?.self, returning: [(any Error)?].self) { group in
            for number in 0..<command.requests {
                group.addTask {
                    do {
                        if ids.isEmpty || number.isMultiple(of: 4) {
                            _ = try await articles.page()
                        } else {
                            _ = try await articles.article(ids[number % ids.count])
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// How many requests the server has refused for an expired token.
    private func refusals(_ statistics: ServerStatistics) -> Int {
        let status = command.expired.status.rawValue
        return statistics.count("GET", "/articles", status: status)
            + statistics.count("GET", "/articles/{id}", status: status)
    }

    /// Starts as a new process does, with nothing but the stored session.
    mutating func restart(with graph: AppGraph) async throws {
        let logins = backend.statistics.registrations + backend.statistics.socialLogins
        let outcome = try await graph.auth.autoLogin(refreshing: false)
        let page = try await graph.articles.page()
        try await recordTokens(of: graph)
        let added = backend.statistics.registrations + backend.statistics.socialLogins - logins
        if case .signedIn(let user?) = outcome {
            claims.record(
                .autoLogin, added == 0 && !page.items.isEmpty,
                "signed in as user \(user.id), \(user.name); \(page.items.count) articles read; \(added) logins")
        } else {
            signOuts += 1
            claims.record(.autoLogin, false, "not signed in")
        }
    }

    /// Signs out, and sends every old token to the server.
    mutating func signOut(with graph: AppGraph) async throws {
        try await graph.auth.logout()
        let isStoreEmpty = try await graph.store.load() == nil
        var accesses: [Int?] = []
        var refreshes: [Int?] = []
        for bundle in bundles {
            let bearer = "Bearer \(bundle.accessToken)"
            accesses.append(
                await status { try await graph.unauthenticatedNetwork.send(.me.header("Authorization", bearer)) })
            guard let refreshToken = bundle.refreshToken else { continue }
            refreshes.append(await status { try await graph.unauthenticatedNetwork.send(.refresh(refreshToken)) })
        }
        requestsWithOldTokens = accesses.count + refreshes.count
        let refusals: Set<Int?> = [401, 403, command.expired.status.rawValue]
        let areRefused = (accesses + refreshes).allSatisfy { refusals.contains($0) }
        claims.record(
            .tokensRevoked, areRefused && isStoreEmpty && bundles.count > 1 && refreshes.count == bundles.count,
            "access tokens: \(listed(accesses)); refresh tokens: \(listed(refreshes)); the store is "
                + (isStoreEmpty ? "empty" : "not empty"))
    }

    /// The status of a call's response; `nil` without a response.
    private func status(of call: () async throws -> some Sendable) async -> Int? {
        do {
            _ = try await call()
            return 200
        } catch {
            return (error as? NetworkError)?.status
        }
    }

    private func listed(_ statuses: [Int?]) -> String {
        statuses.map { $0.map(String.init) ?? "no response" }.joined(separator: ", ")
    }
}
