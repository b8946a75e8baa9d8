import AuthInterface

@testable import TokenRefresh

/// The names of two processes, as one of them and as the world sees them.
///
/// Each machine calls itself `t` (this) and the other process `o`, and both draw the same keys. So the states of the
/// two processes are equal when they are in the same situation, and a world and its mirror image can be merged. In the
/// world's store the processes are named `0` and `1`, and keys carry their owner's letter.
struct Perspective {
    let slot: Int

    /// What the process finds in the world's store.
    func view(_ content: StoredSession) -> StoredSession { content.renamed(by: viewed) }

    /// What the process stores, in the world's names.
    func unview(_ content: StoredSession) -> StoredSession { content.renamed(by: unviewed) }

    /// A key of the process in the world's names.
    func unview(key: String) -> String {
        key.first == "O" ? Self.keyLetters[1 - slot] + key.dropFirst() : Self.keyLetters[slot] + key
    }

    private func unview(owner: ProcessIdentity) -> ProcessIdentity {
        let isOwn = owner.process.first == "t"
        return ProcessIdentity(host: owner.host, process: "\(isOwn ? slot : 1 - slot)" + owner.process.dropFirst())
    }

    func view(owner: ProcessIdentity) -> ProcessIdentity {
        let isOwn = owner.process.first == Self.digits[slot]
        return ProcessIdentity(host: owner.host, process: (isOwn ? "t" : "o") + owner.process.dropFirst())
    }

    private func viewed(_ intent: RefreshIntent) -> RefreshIntent {
        let (key, isOwn) = (intent.idempotencyKey.dropFirst(), intent.idempotencyKey.hasPrefix(Self.keyLetters[slot]))
        return renamed(intent, key: isOwn ? String(key) : "O" + key, owner: view(owner: intent.owner))
    }

    private func unviewed(_ intent: RefreshIntent) -> RefreshIntent {
        renamed(intent, key: unview(key: intent.idempotencyKey), owner: unview(owner: intent.owner))
    }

    private func renamed(_ intent: RefreshIntent, key: String, owner: ProcessIdentity) -> RefreshIntent {
        var renamed = intent
        (renamed.idempotencyKey, renamed.owner) = (key, owner)
        return renamed
    }

    private static let digits: [Character] = ["0", "1"]
    private static let keyLetters = ["A", "B"]

    /// Feeds a name of the world, in an order of the processes.
    static func feed(_ name: String, swapped: Bool, into hasher: inout Hasher) {
        var name = Substring(name)
        let first = name.popFirst()
        switch (first, swapped) {
        case ("0", false), ("1", true): hasher.combine(0)
        case ("A", false), ("B", true): hasher.combine(2)
        case ("A", true), ("B", false): hasher.combine(3)
        default: hasher.combine(1)
        }
        hasher.combine(name)
    }
}

extension StoredSession {
    fileprivate func renamed(by rename: (RefreshIntent) -> RefreshIntent) -> StoredSession {
        guard case .active(let bundle) = self, let intent = bundle.refreshIntent else { return self }
        return .active(bundle.with(refreshIntent: rename(intent)))
    }

    /// Feeds the content, with the processes in one of the two orders.
    func feed(swapped: Bool, into hasher: inout Hasher) {
        switch self {
        case .empty: hasher.combine(0)
        case .tombstone(let tombstone):
            hasher.combine(1)
            hasher.combine(tombstone)
        case .active(let bundle):
            hasher.combine(2)
            hasher.combine(bundle.session)
            hasher.combine(bundle.ordinal)
            hasher.combine(bundle.generation)
            hasher.combine(bundle.accessToken)
            hasher.combine(bundle.refreshToken)
            guard let intent = bundle.refreshIntent else { return }
            Perspective.feed(intent.idempotencyKey, swapped: swapped, into: &hasher)
            Perspective.feed(intent.owner.process, swapped: swapped, into: &hasher)
            hasher.combine(intent.date)
            hasher.combine(intent.firstDate)
            hasher.combine(intent.isAbandoned)
            hasher.combine(intent.lease)
            hasher.combine(intent.failure)
        }
    }
}
