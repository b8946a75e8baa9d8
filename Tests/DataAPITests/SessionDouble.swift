import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import Foundation

/// A session that begins and ends as it is told, and remembers what was asked of it.
final class SessionDouble: AuthSession {
    private struct Contents {
        var state: SessionState
        var signIns: [TokenRefreshResult] = []
        var signOuts = 0
        var refreshes = 0
    }

    private let contents: Locked<Contents>
    private let restoring: @Sendable () throws -> Void
    private let refreshing: @Sendable (SessionDouble) throws -> Void

    /// A session in a state. `restoring` and `refreshing` may throw the error of their call.
    init(
        _ state: SessionState,
        refreshing: @escaping @Sendable (SessionDouble) throws -> Void = { _ in },
        restoring: @escaping @Sendable () throws -> Void = {}
    ) {
        contents = Locked(Contents(state: state))
        self.restoring = restoring
        self.refreshing = refreshing
    }

    var state: SessionState { contents.withLock { $0.state } }
    var signIns: [TokenRefreshResult] { contents.withLock { $0.signIns } }
    var signOuts: Int { contents.withLock { $0.signOuts } }
    var refreshes: Int { contents.withLock { $0.refreshes } }

    var states: AsyncStream<SessionState> {
        AsyncStream { continuation in
            continuation.yield(state)
            continuation.finish()
        }
    }

    func restore() async throws -> SessionState {
        try restoring()
        return state
    }

    func signIn(_ tokens: TokenRefreshResult) async throws {
        contents.withLock { contents in
            contents.signIns.append(tokens)
            contents.state = .signedIn(SessionID(rawValue: "fixture"))
        }
    }

    func refresh() async throws -> SessionState {
        contents.withLock { $0.refreshes += 1 }
        try refreshing(self)
        return state
    }

    func signOut(reason: SignOutReason) async throws {
        end(reason)
        contents.withLock { $0.signOuts += 1 }
    }

    func end(_ reason: SignOutReason) {
        contents.withLock { $0.state = .signedOut(reason) }
    }
}

extension Article {
    static func fixture(_ id: Article.ID, title: String = "Hello") -> Article {
        Article(
            id: id, title: title, content: "World", author: Author(id: 1, name: "Ada"),
            createdAt: Date(timeIntervalSince1970: 1_000_000_000))
    }
}
