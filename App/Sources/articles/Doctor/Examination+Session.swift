import AuthInterface
import Composition
import Foundation
import NetworkCore

extension Examination {
    mutating func checkToken() async {
        let remembered = (try? await graph.configuration.journalEntry()) ?? SessionJournalEntry()
        switch stored {
        case .active(let bundle) where remembered.ending(of: bundle) != nil:
            add(
                .warning, "token", "signed out, and the store still holds the tokens",
                "the next command removes and revokes them")
        case .active(let bundle): await check(bundle)
        case .tombstone(let tombstone):
            let text = StatusObject.Ending(tombstone.reason, date: tombstone.date)?.text { $0.formatted(.iso8601) }
            add(.warning, "token", "no session: the last one ended (\(text ?? "not known why"))", Failure.signIn)
        case .empty:
            // Where an end is noted, too, nothing is lost.
            guard let sighting = remembered.seen, remembered == SessionJournalEntry(seen: sighting) else {
                return add(.warning, "token", "not signed in", Failure.signIn)
            }
            add(
                .warning, "token", "the session is lost: its tokens are no longer in the store (\(sighting))",
                "put them back, as from a backup or by mounting a disk; or \(Failure.signIn)")
        case nil: add(.failure, "token", "not known: the store cannot be read", "see the line on the store")
        }
    }

    private mutating func check(_ bundle: TokenBundle) async {
        if let intent = bundle.refreshIntent {
            let facts = "process \(intent.owner), \(intent.date.formatted(.iso8601))"
            return add(.warning, "token", "a refresh has not ended (\(facts))", "the next command completes it")
        }
        let canRefresh = bundle.refreshToken.map { !$0.isEmpty } ?? false
        let renewal = "the next command refreshes it"
        if let expiresAt = bundle.expiresAt, bundle.isExpired(at: Date() + (clockSkew ?? bundle.clockSkew)) {
            let message = "signed in; the access token expired at \(expiresAt.formatted(.iso8601))"
            guard canRefresh else {
                return add(.failure, "token", "\(message), and there is no refresh token", Failure.signIn)
            }
            return add(.ok, "token", "\(message), \(renewal)")
        }
        let validity = bundle.expiresAt.map { "valid until \($0.formatted(.iso8601))" } ?? "without a known expiry"
        let facts = "\(validity), \(canRefresh ? "refreshable" : "not refreshable")"
        switch await isAccepted(bundle) {
        case true?: add(.ok, "token", "signed in, accepted by the server, \(facts)")
        case nil: add(.warning, "token", "signed in, not verified at the server, \(facts)")
        case false? where canRefresh:
            add(.warning, "token", "signed in, but the server refuses the access token", renewal)
        case false?:
            add(
                .failure, "token", "the server refuses the access token, and there is no refresh token",
                EnvironmentToken.isSet ? "set another one in \(EnvironmentToken.variable)" : Failure.signIn)
        }
    }

    /// Whether the server accepts the access token; `nil` when there is no response about it. A refusal has no effect:
    /// the request does not go through the session.
    private func isAccepted(_ bundle: TokenBundle) async -> Bool? {
        guard isReachable else { return nil }
        var endpoint = Endpoint<HTTPResponse>.request(.get, "users/me")
        if let fields = graph.configuration.tokenFields {
            endpoint.settings.headers[fields.accessToken] = bundle.accessToken
            if let name = fields.refreshToken { endpoint.settings.headers[name] = bundle.refreshToken }
        } else {
            endpoint.settings.headers["Authorization"] = "Bearer \(bundle.accessToken)"
        }
        endpoint.settings.deadline = Self.responseLimit
        do {
            // A page of the network accepts everything.
            return try await graph.unauthenticatedNetwork.send(endpoint).head.isJSON ? true : nil
        } catch {
            let status = (error as? NetworkError)?.status
            return status == 401 || status == graph.configuration.expiredStatus ? false : nil
        }
    }
}
