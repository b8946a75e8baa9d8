package import AuthInterface
import ConcurrencyPrimitives
package import Foundation

/// A provider whose tokens a test sets, and that records its calls.
package final class ScriptedTokenProvider: TokenProvider {
    private struct State {
        var current: Result<SessionToken, AuthenticationError>
        var tokenCalls = 0
        var refusals: [TokenRefusal] = []
        var dates: [Date] = []
        var onReplacement: @Sendable (SessionToken) async throws -> SessionToken
    }

    private let state: Locked<State>
    private let isAtHand: Bool

    /// A provider that returns `token` and, after a refusal, its next generation. Where it is at hand, the token can be
    /// had without waiting, as that of an engine can.
    package init(_ token: SessionToken = .first, isAtHand: Bool = false) {
        self.isAtHand = isAtHand
        state = Locked(State(current: .success(token), onReplacement: { $0.next }))
    }

    package var tokenCalls: Int { state.withLock { $0.tokenCalls } }
    package var refusals: [TokenRefusal] { state.withLock { $0.refusals } }
    package var refused: [SessionToken] { refusals.map(\.token) }
    package var dates: [Date] { state.withLock { $0.dates } }

    package func set(_ current: Result<SessionToken, AuthenticationError>) {
        state.withLock { $0.current = current }
    }

    package func onReplacement(_ body: @escaping @Sendable (SessionToken) async throws -> SessionToken) {
        state.withLock { $0.onReplacement = body }
    }

    package func token() async throws -> SessionToken {
        try state.withLock { state in
            state.tokenCalls += 1
            return try state.current.get()
        }
    }

    package var validToken: SessionToken? { isAtHand ? try? state.withLock { try $0.current.get() } : nil }

    package func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        let refused = refusal.token
        let body = state.withLock { state in
            state.refusals.append(refusal)
            return state.onReplacement
        }
        let token = try await body(refused)
        set(.success(token))
        return token
    }

    package func noteServerDate(_ date: Date) { state.withLock { $0.dates.append(date) } }
}

extension SessionToken {
    package static let first = SessionToken("0", of: SessionID(rawValue: "session-a"), generation: 0)

    package static let ofAnotherSession = SessionToken("b", of: SessionID(rawValue: "session-b"), generation: 0)

    /// The token that a refresh of this one returns.
    package var next: SessionToken { SessionToken("\(generation + 1)", of: session, generation: generation + 1) }

    private init(_ name: String, of session: SessionID, generation: Int) {
        self.init(value: "access-\(name)", refreshToken: "refresh-\(name)", session: session, generation: generation)
    }
}
