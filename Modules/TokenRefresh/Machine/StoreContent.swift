import AuthInterface

/// What the store should hold.
enum StoreContent: Sendable {
    /// A bundle, and what it may be written over.
    case bundle(TokenBundle, over: Predecessor)

    /// Nothing. With a session, only that session's bundle is removed: another process may have signed in since.
    case nothing(of: SessionID?)

    /// What a bundle may be written over. A store that is not shared holds nothing else, and is not asked.
    enum Predecessor: Sendable {
        /// Whatever there is: a login replaces everything, and so does what a refresh makes of it until one of the two
        /// is stored.
        case anything
        /// An older bundle of the same session: a refresh replaces what it was made from, and nothing else. Not even
        /// nothing: the store has held the session, so another process has signed the user out.
        case sameSession
    }
}

extension StoreContent {
    /// What to do to a store.
    enum Decision: Sendable {
        case save(TokenBundle)
        case delete
        /// Nothing: what is there must stay.
        case leave(WriteOutcome)
    }

    /// The bundle the store should hold.
    var bundle: TokenBundle? {
        if case .bundle(let bundle, _) = self { bundle } else { nil }
    }

    /// Whether a shared store must be read before it is written.
    var mustLook: Bool {
        switch self {
        case .bundle(_, over: .anything), .nothing(of: nil): false
        case .bundle, .nothing: true
        }
    }

    /// Whether the store is to be emptied.
    var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }

    /// What to do to a store that nobody else writes to.
    var blindDecision: Decision {
        switch self {
        case .bundle(let bundle, _): .save(bundle)
        case .nothing: .delete
        }
    }

    /// What to do to a shared store that holds `found`, so that nothing another process has put there is lost.
    func decision(over found: TokenBundle?) -> Decision {
        switch (self, found) {
        case (.bundle(_, over: .sameSession), nil):
            return .leave(.superseded(by: nil))
        case (.bundle(let bundle, over: .sameSession), let found?) where found.isUsable:
            return bundle.supersedes(found) ? .save(bundle) : .leave(.superseded(by: found))
        case (.nothing(let session?), let found?) where found.session != session:
            return .leave(.written)
        default:
            return blindDecision
        }
    }
}
