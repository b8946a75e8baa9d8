import AuthInterface
import AuthTesting

@testable import TokenRefresh

/// An authorization server that rotates refresh tokens and counts the second use of one as theft.
struct RotatingServer {
    enum Status: Hashable {
        case live
        /// A refresh token was used twice.
        case revokedByReuse
        /// The application revoked it.
        case revokedOnRequest
    }

    enum Response: Hashable {
        /// The tokens of this number.
        case tokens(Int)
        case rejected
    }

    struct Family: Hashable {
        var tokens = TokenFamily()
        var status = Status.live
    }

    var honoursKeys = false
    private(set) var families: [SessionID: Family] = [:]

    mutating func open(_ session: SessionID) { families[session] = Family() }

    func isLive(_ session: SessionID) -> Bool { families[session]?.status == .live }

    /// Processes a refresh (rule 6).
    mutating func process(_ number: Int, of session: SessionID, key: String) -> (Response, text: String) {
        guard var family = families[session], family.status == .live else { return (.rejected, "rejects it: revoked") }
        defer { families[session] = family }
        let use = family.tokens.use(number, key: key, tolerating: honoursKeys ? .sameKey : .none)
        let current = family.tokens.current
        switch use {
        case .rotated: return (.tokens(current), "rotates r\(number) to r\(current)")
        case .repeated: return (.tokens(current), "repeats r\(current) for the same key")
        case .lateRepetition: return (.rejected, "rejects the old r\(number), which has its key")
        case .reuse, .revoked:
            family.status = .revokedByReuse
            return (.rejected, "takes the re-use of r\(number) for theft")
        }
    }

    mutating func revoke(_ session: SessionID) {
        if isLive(session) { families[session]?.status = .revokedOnRequest }
    }

    /// Feeds the state, with the processes in one of the two orders.
    func feed(swapped: Bool, into hasher: inout Hasher) {
        var sum = 0
        for (session, family) in families {
            var inner = Hasher()
            inner.combine(session)
            inner.combine(family.tokens.current)
            inner.combine(family.status)
            sum &+= inner.finalize()
            for (number, key) in family.tokens.keys {
                var inner = Hasher()
                inner.combine(session)
                inner.combine(number)
                Perspective.feed(key, swapped: swapped, into: &inner)
                sum &+= inner.finalize()
            }
        }
        hasher.combine(sum)
    }
}
