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
    func view(_ content: StoredSession) -> StoredSession { content.renamed(key: view(key:), owner: view(owner:)) }

    /// What the process stores, in the world's names.
    func unview(_ content: StoredSession) -> StoredSession { content.renamed(key: unview(key:), owner: unview(owner:)) }

    /// A key of the process in the world's names.
    func unview(key: String) -> String {
        key.first == "O" ? Self.keyLetters[1 - slot] + key.dropFirst() : Self.keyLetters[slot] + key
    }

    private func unview(owner: ProcessIdentity) -> ProcessIdentity {
        let isOwn = owner.process.first == "t"
        return ProcessIdentity(host: owner.host, process: "\(isOwn ? slot : 1 - slot)" + owner.process.dropFirst())
    }

    func view(owner: ProcessIdentity) -> ProcessIdentity {
        let isOwn = owner.process.hasPrefix("\(slot)")
        return ProcessIdentity(host: owner.host, process: (isOwn ? "t" : "o") + owner.process.dropFirst())
    }

    private func view(key: String) -> String {
        (key.hasPrefix(Self.keyLetters[slot]) ? "" : "O") + key.dropFirst()
    }

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
    fileprivate func renamed(
        key: (String) -> String, owner: (ProcessIdentity) -> ProcessIdentity
    ) -> StoredSession {
        guard case .active(let bundle) = self, var intent = bundle.refreshIntent else { return self }
        intent.idempotencyKey = key(intent.idempotencyKey)
        intent.owner = owner(intent.owner)
        return .active(bundle.with(refreshIntent: intent))
    }

    /// Feeds the content, with the processes in one of the two orders.
    func feed(swapped: Bool, into hasher: inout Hasher) {
        switch self {
        case .empty: hasher.combine(0)
        case .tombstone(let tombstone): hasher.feed(1, tombstone)
        case .active(let bundle):
            hasher.feed(2, bundle.session, bundle.ordinal, bundle.generation, bundle.accessToken, bundle.refreshToken)
            guard let intent = bundle.refreshIntent else { return }
            Perspective.feed(intent.idempotencyKey, swapped: swapped, into: &hasher)
            Perspective.feed(intent.owner.process, swapped: swapped, into: &hasher)
            hasher.feed(intent.date, intent.firstDate, intent.isAbandoned, intent.lease, intent.failure)
        }
    }
}
