import AuthInterface
import Composition
import DataAPI
import Foundation

/// What every login has in common: nothing is sent while the store could not keep the tokens, and nobody is told to be
/// signed in before they are kept.
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

    /// Signs in and says who it is.
    ///
    /// - Throws: What the login throws; `TokenStoreError` when the tokens were not kept.
    func perform(_ login: () async throws -> User) async throws {
        let user = try await login()
        guard try await graph.store.load() != nil else {
            throw Failure("signed in, but the session could not be stored; check with 'articles status'", .store)
        }
        console.say("signed in as \(user.name) (user \(user.id))")
        try console.object(["user": UserObject(user)])
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
