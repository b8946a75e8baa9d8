package import AuthInterface
package import Foundation

/// The encoding of a stored session: JSON with its format and version, after a checksum.
///
/// ```json
/// {"checksum":"0f1e2d3c4b5a6978","bundle":{"accessToken":"…","refreshToken":"…","expiresAt":790000000.25,
///  "receivedAt":789996400.25,"clockSkew":0,"session":"…","generation":3},"format":"latchkey-tokens","version":2}
/// ```
/// A tombstone is stored as `ended`, in place of `bundle`; an empty store has neither. Dates count seconds from
/// 2001-01-01T00:00:00Z, as a `Date` does: no other origin keeps every bit of it.
///
/// **The checksum** is the CRC-64 of every byte after the comma that follows it, so that a flipped bit is not read as
/// another token, session or version (G12). Every later version has it at the same position.
///
/// Unknown fields are ignored. A change that an older reader would misunderstand raises the version.
package enum TokenEnvelope {
    static let format = "latchkey-tokens"

    /// The newest version that is read. It is that of a refresh for another audience than the session's, which earlier
    /// programs have stored: its intent is one of the session, as its call spent the same refresh token.
    static let newestVersion = 4

    /// The version of sessions whose tokens are bound to a key: an older program would send a refresh token without the
    /// proof that the server demands (G34).
    static let boundVersion = 3

    /// The version of sessions whose tokens are bound to no key, which an older program can use.
    static let unboundVersion = 2

    /// The oldest version that may read a session.
    static func version(of session: StoredSession) -> Int {
        session.bundle?.binding == nil ? unboundVersion : boundVersion
    }

    private static let start = Data(#"{"checksum":""#.utf8)
    private static let separator = Data(#"","#.utf8)
    private static let bodyStart = start.count + CRC64.textLength + separator.count

    /// Encodes a session.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable` when ``decode(_:)`` could not read them.
    package static func encode(_ session: StoredSession) throws(TokenStoreError) -> Data {
        if let generation = session.bundle?.generation, !TokenBundle.generations.contains(generation) {
            throw TokenStoreError(.unavailable, reason: "generation \(generation) is out of the range of generations")
        }
        guard let object = try? encoder.encode(Envelope(session)) else {
            throw TokenStoreError(.unavailable, reason: "the session cannot be written as JSON")
        }
        let body = object.dropFirst()
        return start + Data(CRC64.text(of: body).utf8) + separator + body
    }

    /// Decodes a session.
    ///
    /// - Throws: ``TokenStoreError`` with code `corrupt` when the bytes are no session, or are not those that were
    ///   written; `unsupportedVersion` when a later version wrote them. The reason quotes nothing of them.
    package static func decode(_ data: Data) throws(TokenStoreError) -> StoredSession {
        let isChecked = data.starts(with: start)
        if isChecked { try check(data) }
        if isChecked, let envelope = try? decoder.decode(Envelope.self, from: data),
            envelope.format == format, (unboundVersion...newestVersion).contains(envelope.version)
        {
            guard let session = envelope.session else { throw corrupt(data, "it has fields that are invalid") }
            return session
        }
        throw refusal(of: data, isChecked: isChecked)
    }

    /// Decodes a session. The reason of an error says where the bytes are and what to do.
    static func decode(_ data: Data, in place: String) throws(TokenStoreError) -> StoredSession {
        do {
            return try decode(data)
        } catch {
            throw .unreadable(error, in: place)
        }
    }

    /// Why the bytes are not a session of a known version.
    private static func refusal(of data: Data, isChecked: Bool) -> TokenStoreError {
        guard let header = try? decoder.decode(StoredHeader.self, from: data), header.format == format else {
            return corrupt(data, "it does not name the format")
        }
        if header.version > newestVersion {
            return TokenStoreError(
                .unsupportedVersion, reason: "version \(header.version) of the format is not known")
        }
        return corrupt(data, isChecked ? "it has fields that are missing or invalid" : "it has no checksum")
    }

    private static func check(_ data: Data) throws(TokenStoreError) {
        let body = data.dropFirst(bodyStart)
        guard data.prefix(bodyStart) == start + Data(CRC64.text(of: body).utf8) + separator else {
            throw corrupt(data, "it does not have its checksum")
        }
    }

    private static func corrupt(_ data: Data, _ what: String) -> TokenStoreError {
        TokenStoreError(.corrupt, reason: "the content (\(data.count) bytes) is not a token file: \(what)")
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }
}

extension TokenStoreError {
    /// The error of content that cannot be read as a session, with its place and what to do. It quotes nothing of it.
    static func unreadable(_ error: TokenStoreError, in place: String) -> TokenStoreError {
        let remedy =
            error.code == .corrupt
            ? "the next sign-in replaces it, a sign-out removes it" : "update this program, or sign out to remove it"
        return TokenStoreError(error.code, reason: "\(place) cannot be read: \(error.reason); \(remedy)")
    }
}

/// The fields that every version of a format has.
struct StoredHeader: Decodable {
    let format: String
    let version: Int
}

private struct Envelope: Codable {
    let format: String
    let version: Int
    let bundle: StoredBundle?
    let ended: SessionTombstone?

    init(_ session: StoredSession) {
        format = TokenEnvelope.format
        version = TokenEnvelope.version(of: session)
        bundle = session.bundle.map(StoredBundle.init)
        if case .tombstone(let tombstone) = session { ended = tombstone } else { ended = nil }
    }

    /// The session, or `nil` when the fields are those of none.
    var session: StoredSession? {
        switch (bundle, ended) {
        case (let bundle?, nil): TokenBundle.generations.contains(bundle.generation) ? .active(bundle.bundle) : nil
        case (nil, let ended?): .tombstone(ended)
        case (nil, nil): .empty
        case (_?, _?): nil
        }
    }
}
