import AuthInterface
import Foundation

/// How a bundle is written down: JSON that says what it is and of which version.
///
/// ```json
/// {"format":"latchkey-tokens","version":1,"bundle":{"accessToken":"…","refreshToken":"…","expiresAt":790000000.25,
///  "clockSkew":0,"session":"…","generation":3}}
/// ```
/// `expiresAt` counts seconds from 2001-01-01T00:00:00Z, as a `Date` does: no other origin keeps every bit of it.
/// Fields that are not known are passed over; a change that an older reader would misunderstand raises the version.
struct TokenEnvelope: Sendable {
    /// Reads the envelope of one version, whole.
    typealias Reader = @Sendable (Data) throws -> TokenBundle

    /// What a reader made of some bytes.
    enum Reading {
        case bundle(TokenBundle)
        case unreadable
        case newer(version: Int)
    }

    static let format = "latchkey-tokens"
    static let currentVersion = 1

    /// The version that is written.
    private let version: Int

    /// A reader for every version there has been. Bundles of older ones are written as the current one at the next
    /// save.
    private let readers: [Int: Reader]

    init() {
        self.init(version: Self.currentVersion, readers: [1: Self.readVersion1])
    }

    /// For tests of versions to come.
    init(version: Int, readers: [Int: Reader]) {
        self.version = version
        self.readers = readers
    }

    /// Writes a bundle down.
    func encode(_ bundle: TokenBundle) throws(TokenStoreError) -> Data {
        do {
            return try Self.encoder.encode(
                Envelope(format: Self.format, version: version, bundle: StoredBundle(bundle))
            )
        } catch {
            throw TokenStoreError(.unavailable, reason: "the bundle cannot be written as JSON")
        }
    }

    /// Reads what was written down. What is wrong with unreadable bytes is not said: it would quote them.
    func decode(_ data: Data) -> Reading {
        guard let header = try? Self.decoder.decode(Header.self, from: data), header.format == Self.format else {
            return .unreadable
        }
        if header.version > version { return .newer(version: header.version) }
        guard let read = readers[header.version], let bundle = try? read(data) else { return .unreadable }
        return .bundle(bundle)
    }

    static let readVersion1: Reader = { data in
        try decoder.decode(Envelope.self, from: data).bundle.bundle
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return decoder
    }
}

private struct Header: Decodable {
    let format: String
    let version: Int
}

private struct Envelope: Codable {
    let format: String
    let version: Int
    let bundle: StoredBundle
}

/// The stored fields by their stored names: renaming a property of `TokenBundle` must not change a file.
private struct StoredBundle: Codable {
    let accessToken: String
    let refreshToken: String?
    let expiresAt: TimeInterval?
    let clockSkew: TimeInterval
    let session: String
    let generation: Int

    init(_ bundle: TokenBundle) {
        accessToken = bundle.accessToken
        refreshToken = bundle.refreshToken
        expiresAt = bundle.expiresAt?.timeIntervalSinceReferenceDate
        clockSkew = bundle.clockSkew
        session = bundle.session.rawValue
        generation = bundle.generation
    }

    var bundle: TokenBundle {
        TokenBundle(
            accessToken: accessToken,
            refreshToken: refreshToken,
            expiresAt: expiresAt.map(Date.init(timeIntervalSinceReferenceDate:)),
            clockSkew: clockSkew,
            session: SessionID(rawValue: session),
            generation: generation
        )
    }
}
