package import AuthInterface
import ConcurrencyPrimitives

/// Keeps several calls with one session: the pages of a list, the reconnections of a stream, the parts of a download.
///
/// The first call that carries a token decides. A later one fails with code `sessionEnded` when another session is the
/// current one, as an attempt of one call does (G23).
public final class SessionContinuity: Sendable {
    private let state = Locked<SessionID?>(nil)

    /// Creates a continuity that no call has used yet.
    public init() {}

    /// The session of the calls. `nil`: none has carried a token.
    package var session: SessionID? { state.withLock { $0 } }

    /// Takes the session of the first call.
    func join(_ session: SessionID) -> SessionID {
        state.withLock { current in
            let joined = current ?? session
            current = joined
            return joined
        }
    }
}
