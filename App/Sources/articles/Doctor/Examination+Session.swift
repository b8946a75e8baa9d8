import AuthInterface
import Composition
import Foundation
import NetworkCore

/// The check of the session.
extension Examination {
    private static let signIn = "sign in with 'articles login guest --name NAME --photo FILE'"

    mutating func checkToken() async {
        let remembered = await journalEntry()
        switch stored {
        case .active(let bundle) where remembered.mayEnd(bundle.session):
            checks.append(
                .warning(
                    "token", "signed out, and the store still holds the tokens",
                    "the next command removes and revokes them"))
        case .empty where !remembered.pending.isEmpty:
            checks.append(.warning("token", "signed out", Self.signIn))
        case .empty where remembered.seen != nil:
            let sighting = remembered.seen.map { "\($0)" } ?? ""
            checks.append(
                .warning(
                    "token", "the session is lost: its tokens are no longer in the store (\(sighting))",
                    "put them back, as from a backup or by mounting a disk; or \(Self.signIn)"))
        case .active(let bundle): await check(bundle)
        case .tombstone(let tombstone) where tombstone.reason == .moved:
            checks.append(
                .warning(
                    "token", "no session: it was moved at \(tombstone.date.formatted(.iso8601))",
                    "if it did not arrive, run 'articles session export' with its file again; or \(Self.signIn)"))
        case .tombstone(let tombstone):
            let text = StatusObject.Ending(tombstone.reason, date: tombstone.date)?.text ?? "not known why"
            checks.append(.warning("token", "no session: the last one ended (\(text))", Self.signIn))
        case .empty: checks.append(.warning("token", "not signed in", Self.signIn))
        case nil: checks.append(.failure("token", "not known: the store cannot be read", "see the line on the store"))
        }
    }

    /// What the journal remembers of the session (G30).
    private mutating func journalEntry() async -> SessionJournalEntry {
        do {
            return try await graph.configuration.journalEntry()
        } catch {
            checks.append(
                .warning(
                    "journal", "a lost session and an unfinished sign-out are not noticed", Failure(error).message))
            return SessionJournalEntry()
        }
    }

    private mutating func check(_ bundle: TokenBundle) async {
        let renewal = "the next command refreshes it"
        if let intent = bundle.refreshIntent {
            return checks.append(
                .warning(
                    "token", "a refresh has not ended (process \(intent.owner), \(intent.date.formatted(.iso8601)))",
                    "the next command completes it"))
        }
        let canRefresh = bundle.refreshToken.map { !$0.isEmpty } ?? false
        let now = Date() + (clockSkew ?? bundle.clockSkew)
        if let expiresAt = bundle.expiresAt, bundle.isExpired(at: now) {
            let message = "signed in; the access token expired at \(expiresAt.formatted(.iso8601))"
            return checks.append(
                canRefresh
                    ? .ok("token", "\(message), \(renewal)")
                    : .failure("token", "\(message), and there is no refresh token", Self.signIn))
        }
        let validity = bundle.expiresAt.map { "valid until \($0.formatted(.iso8601))" } ?? "without a known expiry"
        let facts = "\(validity), \(canRefresh ? "refreshable" : "not refreshable")"
        switch await isAccepted(bundle) {
        case true?: checks.append(.ok("token", "signed in, accepted by the server, \(facts)"))
        case nil: checks.append(.warning("token", "signed in, not verified at the server, \(facts)"))
        case false? where canRefresh:
            checks.append(.warning("token", "signed in, but the server refuses the access token", renewal))
        case false?:
            checks.append(
                .failure(
                    "token", "the server refuses the access token, and there is no refresh token",
                    EnvironmentToken.isSet ? "set another one in \(EnvironmentToken.source ?? "")" : Self.signIn))
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
            let head = try await graph.unauthenticatedNetwork.send(endpoint).head
            // A page of the network accepts everything.
            return head.headers["Content-Type"]?.lowercased().contains("json") == true ? true : nil
        } catch {
            let status = (error as? NetworkError)?.status
            return status == 401 || status == graph.configuration.expiredStatus ? false : nil
        }
    }
}
