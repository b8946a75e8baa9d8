import AuthInterface

/// Tokens and keys that are given up once a version is written, so that other processes can read why they are refused,
/// or missing (G5, G9, G34).
struct Revocations: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case tokens(TokenBundle)
        case key(TokenBinding)
    }

    private struct Pending: Hashable {
        let subject: Subject
        let version: Int
    }

    private var pending: [Pending] = []
    /// The generations of the sessions that were revoked, or wait for it: those that the store may still hold.
    private var generations: [SessionID: Int] = [:]

    mutating func add(_ subject: Subject, after version: Int) {
        pending.append(Pending(subject: subject, version: version))
    }

    /// What is to be given up once a version is written, or is not waited for any more.
    mutating func due(upTo version: Int) -> [Subject] {
        guard !pending.isEmpty else { return [] }
        defer { pending.removeAll { $0.version <= version } }
        return pending.filter { $0.version <= version }.map(\.subject)
    }

    /// The tokens of a session are given up.
    mutating func note(_ bundle: TokenBundle) { generations[bundle.session] = bundle.generation }

    /// The generation of a session that was given up.
    func generation(of session: SessionID) -> Int? { generations[session] }

    /// The store holds none of them any more.
    mutating func storeIsUpToDate() { generations = [:] }
}
