public import struct Foundation.Date

/// Replaces the tokens of a session that has ended. Other processes that share the store read the end and
/// its reason from it (G5, G9).
///
/// The next sign-in replaces it. After ``lifetime`` it is ignored.
public struct SessionTombstone: Sendable, Hashable {
    /// How long a tombstone counts: 30 days.
    public static let lifetime: Duration = .seconds(30 * 86_400)

    /// The session that ended.
    public let session: SessionID

    /// Why it ended.
    public let reason: SignOutReason

    /// When it ended, on the clock of the device that ended it.
    public let date: Date

    /// Every session up to this ordinal has ended: what was signed in before the end and is stored after it finds it.
    /// ``SessionOrdinal/unknown`` in a tombstone of an earlier version, which ends ``session`` only.
    public let ordinal: SessionOrdinal

    /// Creates a tombstone.
    public init(session: SessionID, reason: SignOutReason, date: Date, upTo ordinal: SessionOrdinal = .unknown) {
        (self.session, self.reason, self.date, self.ordinal) = (session, reason, date, ordinal)
    }
}

extension SessionTombstone: Codable {
    private enum CodingKeys: String, CodingKey { case session, reason, text, ending, date, lost, ordinal }

    /// Decodes a tombstone. A reason that a later version has added is read as one of the application, and so is the
    /// reason `moved` of earlier versions: the session has ended in any case (G36).
    ///
    /// - Throws: `DecodingError` when a field is missing or invalid.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        session = SessionID(rawValue: try fields.decode(String.self, forKey: .session))
        date = Date(timeIntervalSinceReferenceDate: try fields.decode(Double.self, forKey: .date))
        ordinal = try fields.decodeIfPresent(SessionOrdinal.self, forKey: .ordinal) ?? .unknown
        let name = try fields.decode(String.self, forKey: .reason)
        switch name {
        case "byUser": reason = .byUser
        case "expired": reason = .expired(try fields.decodeIfPresent(SessionEnding.self, forKey: .ending) ?? .init())
        case "application":
            let text = try fields.decode(String.self, forKey: .text)
            let lost = try fields.decodeIfPresent(SessionSighting.self, forKey: .lost)
            reason = lost.map { .lost($0) } ?? .application(text)
        case "never": reason = .never
        default: reason = .application(name)
        }
    }

    /// Encodes a tombstone.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(session.rawValue, forKey: .session)
        try fields.encode(date.timeIntervalSinceReferenceDate, forKey: .date)
        if ordinal != .unknown { try fields.encode(ordinal, forKey: .ordinal) }
        switch reason {
        case .never: try fields.encode("never", forKey: .reason)
        case .byUser: try fields.encode("byUser", forKey: .reason)
        case .expired(let ending):
            try fields.encode("expired", forKey: .reason)
            try fields.encode(ending, forKey: .ending)
        case .application(let text):
            try fields.encode("application", forKey: .reason)
            try fields.encode(text, forKey: .text)
        case .lost(let sighting):
            // The end of a session whose key no longer exists. A version that does not know the reason reads an
            // application's one.
            try fields.encode("application", forKey: .reason)
            try fields.encode("lost", forKey: .text)
            try fields.encode(sighting ?? SessionSighting(session: session), forKey: .lost)
        }
    }
}
