public import struct Foundation.Date

/// Remembers that a session was here, and which ones are to end, in another place than the store (G30).
///
/// A store that has lost its content looks like one in which no user has signed in, and a sign-out that a store cannot
/// take is undone by the next start. A journal tells both apart. It is written when a session begins, at most once an
/// hour while it goes on, and around its end; never when a token is used.
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
    /// - Parameter change: Returns the new entry, or `nil` to leave what is written. It is called with a failure where
    ///   that is damaged (code `corrupt`), which the new entry replaces. It may be called on any thread, and must not
    ///   use the journal.
    /// - Returns: What is written now. Keep it by its own coding: an entry has parts that only this package reads.
    /// - Throws: ``TokenStoreError`` in most cases; what is written is then unchanged. Where `change` has left damage,
    ///   the failure that it was called with.
    @discardableResult
    func update(
        _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
    ) async throws -> SessionJournalEntry

    /// Reports that what is written may have changed, as ``SessionSource/changes`` does. The default cannot watch: it
    /// returns a stream that has ended, and other processes look every few seconds.
    var changes: AsyncStream<Void> { get }
}

extension SessionJournal {
    /// A stream that has ended.
    public var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// What a journal says of one account in one store.
public struct SessionJournalEntry: Sendable, Hashable {
    /// The session that was there last, and did not end as far as is known.
    public var seen: SessionSighting?

    /// The end that the store may not have taken.
    public var pending: PendingSignOut?

    /// The ends of an earlier version, which name their sessions. They stay until the store has taken another content.
    package var former: [FormerSignOut] = []

    /// Creates an entry.
    public init(seen: SessionSighting? = nil, pending: PendingSignOut? = nil) {
        (self.seen, self.pending) = (seen, pending)
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { seen == nil && pending == nil && former.isEmpty }

    /// Why a session that a store holds is to end. `nil`: it is not.
    public func ending(of bundle: TokenBundle) -> SignOutReason? {
        if let pending, pending.ends(bundle) { return pending.reason }
        return former.first { $0.ends(bundle) }?.reason
    }
}

/// The end of sessions that the store may not have taken: the next start, and every process that runs, completes it.
public struct PendingSignOut: Sendable, Hashable, Codable {
    /// Every session up to this ordinal ends.
    package var ordinal: SessionOrdinal { end.ordinal }

    /// Of the session with this ordinal, only tokens up to this generation end: those that a server has rejected.
    /// `nil`: all.
    package let generation: Int?

    /// The end as the store is to hold it: the reason and the date. Its session may not be known.
    private let end: SessionTombstone

    /// Why the sessions end.
    public var reason: SignOutReason { end.reason }

    /// When it was asked for, on the clock of the device.
    public var date: Date { end.date }

    /// Creates an end that is to be completed.
    public init(upTo ordinal: SessionOrdinal, generation: Int? = nil, reason: SignOutReason, date: Date) {
        self.generation = generation
        end = SessionTombstone(session: SessionID(rawValue: ""), reason: reason, date: date, upTo: ordinal)
    }

    /// Whether a session that a store holds is to end.
    package func ends(_ bundle: TokenBundle) -> Bool {
        if bundle.ordinal == ordinal, let generation { return bundle.generation <= generation }
        return bundle.ordinal <= ordinal
    }
}

/// A sign-out that an earlier version has noted: it names the sessions that it ends.
package struct FormerSignOut: Sendable, Hashable, Codable {
    private let sessions: Set<SessionID>
    /// Whether the store could not be read then: it also ends a session that is found, unless that one began later.
    private let unread: Bool?
    /// The sessions that began since.
    private let spared: [SessionID]?
    private let end: SessionTombstone

    package var reason: SignOutReason { end.reason }

    package func ends(_ bundle: TokenBundle) -> Bool {
        if sessions.contains(bundle.session) { return true }
        guard unread == true, spared?.contains(bundle.session) != true else { return false }
        return bundle.ordinal <= SessionOrdinal(at: end.date)
    }
}

extension SessionJournalEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case seen, former
        case pending = "end"
        /// What an earlier version has written in place of both.
        case formerly = "pending"
    }

    /// Decodes an entry, also of an earlier version.
    ///
    /// - Throws: `DecodingError` when a field has another form.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        seen = try fields.decodeIfPresent(SessionSighting.self, forKey: .seen)
        pending = try fields.decodeIfPresent(PendingSignOut.self, forKey: .pending)
        let key = fields.contains(.former) ? CodingKeys.former : .formerly
        former = try fields.decodeIfPresent([FormerSignOut].self, forKey: key) ?? []
    }

    /// Encodes an entry.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(seen, forKey: .seen)
        try fields.encodeIfPresent(pending, forKey: .pending)
        if !former.isEmpty { try fields.encode(former, forKey: .former) }
    }
}
