import AuthInterface
import Composition
import DataAPI
import Foundation

/// What every login has in common: nothing is sent while the store could not keep the tokens, and a user is not
/// reported as signed in before they are kept.
struct Login {
    let graph: AppGraph
    let console: Console

    /// Makes sure that tokens can be kept, before an account is made that nobody could use.
    ///
    /// - Throws: `TokenStoreError`. A file that cannot be read as tokens is no obstacle: it is set aside.
    func checkStore() async throws {
        do {
            _ = try await graph.store.load()
        } catch let error as TokenStoreError where error.code == .corrupt {
            console.say("note: \(error.reason)")
        }
    }

    /// Signs in and says who it is, and whose session that replaces.
    ///
    /// - Throws: What the login throws; `TokenStoreError` when the tokens were not kept.
    func perform(_ login: () async throws -> User) async throws {
        let earlier = await earlierSession()
        let user = try await login()
        guard try await graph.store.load() != nil else {
            throw Failure("signed in, but the session could not be stored; check with 'articles status'", .store)
        }
        let isOther = earlier.map { $0.user?.id != user.id } ?? false
        if let earlier, isOther { console.say("note: this replaces the session of \(earlier.name)") }
        console.say("signed in as \(user.name) (user \(user.id))")
        let replaced = isOther ? ReplacedObject(user: earlier?.user.map(UserObject.init)) : nil
        try console.object(Report(user: UserObject(user), replaced: replaced))
    }

    /// The session that the login is about to replace. Its user is asked for before its tokens are gone.
    private func earlierSession() async -> EarlierSession? {
        guard case .signedIn? = try? await graph.session.restore() else { return nil }
        let user = try? await graph.auth.me()
        // A session that has turned out to be over is replaced by nothing.
        guard case .signedIn = graph.session.state else { return nil }
        return EarlierSession(user: user)
    }

    private struct EarlierSession {
        let user: User?

        var name: String { user.map { "\($0.name) (user \($0.id))" } ?? "a user who could not be looked up" }
    }

    private struct Report: Encodable {
        let user: UserObject
        let replaced: ReplacedObject?
    }

    private struct ReplacedObject: Encodable {
        let user: UserObject?
    }
}

/// A user as `--json` prints one.
struct UserObject: Encodable {
    let id: Int64
    let name: String
    let profileURL: String?

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        profileURL = user.profileURL?.absoluteString
    }
}
