/// When the keys of a server are fetched (OpenID Connect Core §10.1.1): a pure rule, without a task or a clock.
///
/// A server changes its keys without a word: a token with an unknown key is the sign of it. A token may also name any
/// key, so that unknown ones must not cause a call each.
struct KeySetState: Sendable {
    /// What a check of a token has to do.
    enum Action: Sendable, Hashable {
        case use(VerificationKeySet, version: Int)
        /// Fetches them, or waits for the call under way.
        case fetch
        /// The keys are as new as they may be.
        case none
    }

    /// How long keys are used. A server that withdraws one is believed after this time.
    var maximumAge: Duration
    /// The shortest time from one fetch to the next.
    var minimumPause: Duration

    private var fetched: (keys: VerificationKeySet, at: Duration, version: Int)?

    /// A token has named a key that is not among these.
    var wantsNewer = false

    /// The keys, however old.
    var known: VerificationKeySet? { fetched?.keys }

    /// Whether keys are to be fetched for later checks.
    func needsFetch(at now: Duration) -> Bool {
        switch keys(at: now) {
        case .use(_, let version): wantsNewer && keys(after: version, at: now) == .fetch
        case .fetch: true
        case .none: false
        }
    }

    init(maximumAge: Duration, minimumPause: Duration) {
        (self.maximumAge, self.minimumPause) = (maximumAge, minimumPause)
    }

    /// The keys for a check, or other ones for a token that none of a version fits.
    func keys(after version: Int? = nil, at now: Duration) -> Action {
        guard let fetched else { return .fetch }
        if fetched.version == version { return now - fetched.at < minimumPause ? .none : .fetch }
        guard version != nil || now - fetched.at < maximumAge else { return .fetch }
        return .use(fetched.keys, version: fetched.version)
    }

    /// Keys have arrived, of a call that was sent at an instant.
    mutating func receive(_ keys: VerificationKeySet, at now: Duration) {
        fetched = (keys, now, (fetched?.version ?? 0) + 1)
        wantsNewer = false
    }
}
