import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCore

extension DemoRun {
    /// Makes a photo and fits it for upload.
    mutating func preparePhoto(_ fitter: PhotoFitter) throws -> FittedPhoto {
        let jpeg = try SamplePhoto.jpeg(codec: fitter.codec)
        let photo = try fitter.fit(jpeg)
        print(
            "photo",
            "\(SamplePhoto.size), \(jpeg.count.inKilobytes), rotated (Exif \(SamplePhoto.orientation.rawValue))"
                + " → \(photo.size), \(photo.jpeg.count.inKilobytes), upright")
        return photo
    }

    /// Signs in as a guest, creates an article, and downloads the photo.
    ///
    /// - Returns: The server's articles.
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
            .allSucceed, failures == 0 && refused > 0 && results.count == options.requests,
            "\(results.count - failures) of \(options.requests) succeeded; the server had refused \(refused) with "
                + "\(options.expiredStatus.rawValue)\(reason)")
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

    /// Sends all requests concurrently: every fourth for the list, the others for one article each.
    ///
    /// - Returns: The error of each request; `nil` for one that succeeded.
    private func sendRequests(_ articles: ArticleService, _ ids: [Article.ID]) async -> [(any Error)?] {
        await withTaskGroup(of: (any Error)?.self, returning: [(any Error)?].self) { group in
            for number in 0..<options.requests {
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
        let status = options.expiredStatus.rawValue
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
        let refusals: Set<Int?> = [401, 403, options.expiredStatus.rawValue]
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
