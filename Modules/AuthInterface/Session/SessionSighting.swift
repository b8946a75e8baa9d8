public import struct Foundation.Date

/// Where and when a session was last seen, for one that is lost (G30). It holds no secret.
public struct SessionSighting: Sendable, Hashable, Codable {
    /// The session.
    public var session: SessionID

    /// When its tokens were last stored or read, on the clock of the device, to the hour. `nil`: not known.
    public var date: Date?

    /// What kept its tokens, such as "the Keychain". Never an account name. `nil`: not known.
    public var store: String?

    /// The ordinal of the session. `nil`: an earlier version has seen it.
    public var ordinal: SessionOrdinal?

    /// Creates a sighting.
    public init(session: SessionID, date: Date? = nil, store: String? = nil, ordinal: SessionOrdinal? = nil) {
        (self.session, self.date, self.store, self.ordinal) = (session, date, store, ordinal)
    }
}

extension SessionSighting: CustomStringConvertible {
    /// The known fields in one line.
    public var description: String {
        var text = "session \(session)"
        if let store { text += ", kept in \(store)" }
        if let date { text += ", last seen \(date.shown)" }
        return text
    }
}
