import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import Foundation

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in.",
        subcommands: [LoginGuestCommand.self, LoginSocialCommand.self]
    )

    /// What all logins share: nothing is sent while the store cannot be used, and a user is reported as signed in only
    /// after the tokens have been stored.
    struct Flow {
        let graph: AppGraph
        let console: Console

        private struct EarlierSession {
            let user: User?

            var name: String { user.map { "\($0.name) (user \($0.id))" } ?? "an unknown user" }
        }

        private struct Report: Encodable {
            struct Replaced: Encodable {
                let user: UserObject?
            }

            let user: UserObject
            let replaced: Replaced?
        }
    }
}

extension LoginCommand.Flow {
    /// Checks that the store can be used, before an account is created whose tokens would be lost.
    ///
    /// - Throws: `TokenStoreError`. A corrupt file is no obstacle: the sign-in replaces it.
    func checkStore() async throws {
        do {
            _ = try await graph.store.load()
        } catch let error as TokenStoreError where error.code == .corrupt {
            console.print("note: \(error.reason)")
        }
    }

    /// Signs in, and prints the user and the user of the session that is replaced.
    ///
    /// - Throws: What the login throws; ``Failure`` when the tokens were not stored.
    func perform(_ login: () async throws -> User) async throws {
        let earlier = await earlierSession()
        let user = try await login()
        guard try await graph.store.load() != nil else {
            throw Failure("signed in, but the session could not be stored; check with 'articles status'", .store)
        }
        let isOther = earlier.map { $0.user?.id != user.id } ?? false
        if let earlier, isOther { console.print("note: this replaces the session of \(earlier.name)") }
        console.print("signed in as \(user.name) (user \(user.id))")
        let replaced = isOther ? Report.Replaced(user: earlier?.user.map(UserObject.init)) : nil
        try console.printObject(Report(user: UserObject(user), replaced: replaced))
    }

    /// The session that the login replaces. Its user must be requested before its tokens are replaced.
    private func earlierSession() async -> EarlierSession? {
        guard case .signedIn? = try? await graph.session.restore() else { return nil }
        let user = try? await graph.auth.me()
        // The request may have shown that the session has ended.
        guard case .signedIn = graph.session.state else { return nil }
        return EarlierSession(user: user)
    }
}
