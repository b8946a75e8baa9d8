import AuthInterface

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
        struct Use: Hashable {
            let number: Int
            let key: String
        }

        /// The number of the refresh token that is valid.
        var current = 0
        var status = Status.live
        var uses: Set<Use> = []
    }

    var honoursKeys = false
    private(set) var families: [SessionID: Family] = [:]

    mutating func open(_ session: SessionID) { families[session] = Family() }

    func isLive(_ session: SessionID) -> Bool { families[session]?.status == .live }

    /// Processes a refresh (rule 6).
    mutating func process(_ number: Int, of session: SessionID, key: String) -> (Response, text: String) {
        guard var family = families[session], family.status == .live else { return (.rejected, "rejects it: revoked") }
        defer { families[session] = family }
        let use = Family.Use(number: number, key: key)
        if number == family.current {
            family.current += 1
            if honoursKeys { family.uses.insert(use) }
            return (.tokens(family.current), "rotates r\(number) to r\(family.current)")
        }
        if family.uses.contains(use) {
            guard number == family.current - 1 else {
                return (.rejected, "rejects the old r\(number), which has its key")
            }
            return (.tokens(family.current), "repeats r\(family.current) for the same key")
        }
        family.status = .revokedByReuse
        return (.rejected, "takes the re-use of r\(number) for theft")
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
            inner.combine(family.current)
            inner.combine(family.status)
            sum &+= inner.finalize()
            for use in family.uses {
                var inner = Hasher()
                inner.combine(session)
                inner.combine(use.number)
                Perspective.feed(use.key, swapped: swapped, into: &inner)
                sum &+= inner.finalize()
            }
        }
        hasher.combine(sum)
    }
}
