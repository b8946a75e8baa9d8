import AuthInterface

/// What the store is known to have held of a session, and what its tokens replace there.
///
/// ```
///  sign-in: nothing ──stored──► current ◄──stored── older
///     (a write that fails may      │                  ▲
///      have stored it: uncertain)  └── new tokens ────┘
/// ```
/// The tokens of a step-up which are not stored yet replace what another process has refreshed from older ones (G32).
/// The keys that step-ups have replaced are released once no stored token is bound to them (G34).
struct Persistence: Hashable, Sendable {
    private enum Content: Hashable {
        /// No bundle. Its sign-in `ends` sessions up to an ordinal. `isUncertain`: a write has failed, and the store
        /// was not read since. It may have stored a bundle all the same, as when a connection breaks during the commit.
        case nothing(ends: SessionOrdinal?, isUncertain: Bool)
        /// A bundle, and not the tokens in use.
        case older
        /// The tokens in use.
        case current
    }

    /// What becomes of refreshes of other processes that the store holds in place of the tokens in use.
    private enum OtherRefreshes: Hashable {
        case stay
        /// A step-up is not stored yet: they were made from the tokens before it.
        case giveWay
        /// A write that has failed may have stored it, and those of a later generation may be refreshed from it.
        case giveWayUpToOwnGeneration
    }

    private var content: Content
    private var otherRefreshes = OtherRefreshes.stay
    /// The keys that step-ups have replaced.
    private(set) var formerBindings: [TokenBinding] = []

    /// Of a sign-in, which ends sessions up to an ordinal.
    init(ending ordinal: SessionOrdinal?) { content = .nothing(ends: ordinal, isUncertain: false) }

    /// Of tokens that the store holds.
    init() { content = .current }

    /// Whether the store is known to have held a bundle of the session.
    var isStored: Bool { if case .nothing = content { false } else { true } }

    /// Whether the store is known to hold the tokens in use.
    var isCurrent: Bool { content == .current }

    /// Whether a write that has failed may have stored a session that was not stored before.
    var isUncertain: Bool { if case .nothing(_, true) = content { true } else { false } }

    /// The stored content that the tokens in use may replace: what was read, if these tokens were there.
    func predecessor(_ read: TokenBundle? = nil) -> StoreContent.Predecessor {
        if let read { return .exactly(read) }
        if case .nothing(let ends, _) = content { return .lower(ends: ends) }
        return .older
    }

    /// The sessions whose tokens are removed from the store when the user signs out.
    func scope(of session: SessionID, upTo ordinal: SessionOrdinal) -> EndScope {
        isStored ? .session(session, upTo: ordinal) : .unread(upTo: ordinal)
    }

    /// The scope of a session whose refresh token the server has rejected.
    func scope(ofRejected bundle: TokenBundle) -> EndScope {
        if case .nothing(let ends, _) = content { return .rejected(bundle, replacing: ends) }
        return .rejected(bundle, replacing: nil)
    }

    /// Whether the tokens in use are those of a step-up, and replace what another process has stored.
    func replaces(_ stored: TokenBundle, from bundle: TokenBundle) -> Bool {
        switch otherRefreshes {
        case .stay: false
        case .giveWay: true
        case .giveWayUpToOwnGeneration: stored.generation <= bundle.generation
        }
    }

    /// The store holds a bundle of the session. `isCurrent`: with the tokens in use.
    mutating func found(isCurrent: Bool) {
        if isCurrent { content = .current } else if !isStored { content = .older }
    }

    /// The tokens of another process are in use.
    mutating func adopted() {
        content = .current
        otherRefreshes = .stay
    }

    /// New tokens are in use. `isStored`: and the store holds them.
    mutating func renewed(isStored: Bool) {
        if isStored { content = .current } else if self.isStored { content = .older }
    }

    /// The tokens of a step-up are in use, and not stored yet.
    mutating func steppedUp() {
        renewed(isStored: false)
        otherRefreshes = .giveWay
    }

    /// The store holds a refresh of another process which the tokens of the step-up are to replace.
    mutating func outranked() {
        content = .older
        otherRefreshes = .giveWay
    }

    /// A write of the session has failed. `isCurrent`: of the tokens in use.
    mutating func failed(isCurrent: Bool) {
        note(isUncertain: true)
        if isCurrent, otherRefreshes == .giveWay { otherRefreshes = .giveWayUpToOwnGeneration }
    }

    /// A read shows what a write that has failed has stored.
    mutating func wasRead() { note(isUncertain: false) }

    private mutating func note(isUncertain: Bool) {
        if case .nothing(let ends, _) = content { content = .nothing(ends: ends, isUncertain: isUncertain) }
    }

    /// The tokens in use may be bound to another key than those before them.
    mutating func leaveKey(_ former: TokenBinding?, for bundle: TokenBundle) {
        if let former, !formerBindings.contains(where: { $0.thumbprint == former.thumbprint }) {
            formerBindings.append(former)
        }
        formerBindings.removeAll { $0.thumbprint == bundle.binding?.thumbprint }
    }

    /// The tokens in use are stored. Returns the keys to release.
    mutating func stored() -> [TokenBinding] {
        defer { formerBindings = [] }
        otherRefreshes = .stay
        return formerBindings
    }
}
