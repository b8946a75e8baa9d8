public import struct Foundation.Date

/// Remembers that a session was here, and that one was to end, in another place than the store (G30).
///
/// A store that has lost its content looks like one in which no user has signed in, and a sign-out that a store cannot
/// take is undone by the next start. A journal tells both apart. The engine writes it when a session starts, at most
/// once an hour while it goes on, and around its end; never when a token is used.
///
/// The journal belongs to one account in one store, and several processes may share it. It holds no token. A journal
/// that cannot be read is not an empty one: it throws, and then no session is lost and none ends because of it. Run
/// `SessionJournalContract` of `AuthTesting` against every implementation.
public protocol SessionJournal: Sendable {
    /// What keeps the tokens, as a lost session shows it: "the Keychain", or a folder. No secret, no account name.
    var storeName: String { get }

    /// Reads what is written.
    ///
    /// - Returns: What is written; an empty entry only when it is certain that there is none.
    /// - Throws: ``TokenStoreError`` in most cases. Any error counts as *not known*.
    func read() async throws -> SessionJournalEntry

    /// Reads what is written, changes it and writes it, as one step that no other process can interrupt.
    ///
    /// A process that is killed at any instant leaves the old entry or the new one, whole. The new one is durable when
    /// the call returns.
    ///
    /// - Parameter change: Returns the new entry. It may be called on any thread, and must not use the journal.
    /// - Returns: The new entry.
    /// - Throws: ``TokenStoreError`` in most cases; what is written is then unchanged. An entry that cannot be read is
    ///   not replaced.
    @discardableResult
    func update(
        _ change: @escaping @Sendable (SessionJournalEntry) -> SessionJournalEntry
    ) async throws -> SessionJournalEntry
}

/// What a journal says of one account in one store.
public struct SessionJournalEntry: Sendable, Hashable {
    /// The session that was there last, and did not end as far as is known.
    public var seen: SessionSighting?

    /// The sign-outs that the store may not have taken, the oldest first.
    public var pending: [PendingSignOut]

    /// Creates an entry.
    public init(seen: SessionSighting? = nil, pending: [PendingSignOut] = []) {
        (self.seen, self.pending) = (seen, pending)
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { seen == nil && pending.isEmpty }

    /// Whether the next start may end a session that the store still holds: a sign-out names it, or has found the store
    /// unreadable and does not spare it.
    public func mayEnd(_ session: SessionID) -> Bool {
        pending.contains {
            $0.sessions.contains(session) || ($0.includesUnread && !$0.spared.contains(session))
        }
    }
}

/// A sign-out that was asked for, and that the store may not have taken: the next start completes it.
public struct PendingSignOut: Sendable, Hashable {
    /// The sessions that it ends, and no other.
    public var sessions: Set<SessionID>

    /// Whether the store could not be read then: it also ends the session that is found, unless that one is
    /// ``spared``, or known to have begun after ``date``.
    public var includesUnread: Bool

    /// The sessions that have begun since, the latest last. None of them is the one that was not read, also where a
    /// clock that was set dates its beginning before ``date``.
    public var spared: [SessionID] = []

    /// Why the sessions end.
    public let reason: SignOutReason

    /// When it was asked for, on the clock of the device.
    public let date: Date

    /// Creates a sign-out that is to be completed.
    public init(sessions: Set<SessionID>, includesUnread: Bool = false, reason: SignOutReason, date: Date) {
        (self.sessions, self.includesUnread) = (sessions, includesUnread)
        (self.reason, self.date) = (reason, date)
    }
}

extension SessionJournalEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case seen, pending
    }

    /// Decodes an entry.
    ///
    /// - Throws: `DecodingError` when a field has another form.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        seen = try fields.decodeIfPresent(SessionSighting.self, forKey: .seen)
        pending = try fields.decodeIfPresent([PendingSignOut].self, forKey: .pending) ?? []
    }

    /// Encodes an entry.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(seen, forKey: .seen)
        if !pending.isEmpty { try fields.encode(pending, forKey: .pending) }
    }
}

extension PendingSignOut: Codable {
    private enum CodingKeys: String, CodingKey {
        case sessions, unread, spared, end
    }

    /// Decodes a sign-out.
    ///
    /// - Throws: `DecodingError` when a field is missing. A reason is read as that of a tombstone.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        sessions = Set(try fields.decode([SessionID].self, forKey: .sessions))
        includesUnread = try fields.decodeIfPresent(Bool.self, forKey: .unread) ?? false
        // An older version does not know it.
        spared = try fields.decodeIfPresent([SessionID].self, forKey: .spared) ?? []
        // The reason is written as that of a tombstone.
        let end = try fields.decode(SessionTombstone.self, forKey: .end)
        (reason, date) = (end.reason, end.date)
    }

    /// Encodes a sign-out.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        let names = sessions.sorted { $0.rawValue < $1.rawValue }
        try fields.encode(names, forKey: .sessions)
        if includesUnread { try fields.encode(true, forKey: .unread) }
        if !spared.isEmpty { try fields.encode(spared, forKey: .spared) }
        let end = SessionTombstone(session: names.first ?? SessionID(rawValue: ""), reason: reason, date: date)
        try fields.encode(end, forKey: .end)
    }
}
