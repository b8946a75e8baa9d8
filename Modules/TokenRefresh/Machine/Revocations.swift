import AuthInterface

/// Tokens and keys that are given up once a version is written, so that other processes can read why they are refused,
/// or missing (G5, G9, G34).
struct Revocations: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case tokens(TokenBundle)
        case key(TokenBinding)
    }

    /// The generations of the sessions that were revoked, or wait for it: those that the store may still hold.
    var generations: [SessionID: Int] = [:]
    /// By the version that is waited for; 0 is written from the start.
    private var pending: [Int: [Subject]] = [:]

    mutating func add(_ subject: Subject, after version: Int) {
        pending[version, default: []].append(subject)
    }

    /// What is to be given up once a version is written, or is not waited for any more.
    mutating func due(upTo version: Int) -> [Subject] {
        let due = pending.keys.filter { $0 <= version }.sorted()
        return due.flatMap { pending.removeValue(forKey: $0) ?? [] }
    }
}
