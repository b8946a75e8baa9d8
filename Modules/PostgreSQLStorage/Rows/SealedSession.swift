#if PostgreSQL
import Foundation

/// The content of a row: encrypted tokens with their session and generation, or the unencrypted note of an ended
/// session.
struct SealedSession: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case tokens(session: String, generation: Int64, ciphertext: Data)

        /// The note of an ended session. It holds no token, so that a process without the key can read it.
        case note(Data)
    }

    /// The version of the format of a row.
    static let currentVersion: Int64 = 2

    /// The size limit of the content, for reading and writing: 1 MB. A bundle has a few kilobytes.
    static let sizeLimit = 1 << 20

    let format: Int64
    let content: Content

    /// The data that the cipher authenticates. The length of the session makes the encoding unambiguous.
    static func associatedData(account: String, session: String, generation: Int64) -> Data {
        Data("latchkey-tokens/\(currentVersion)/\(generation)/\(session.utf8.count)/\(session)/\(account)".utf8)
    }
}
#endif
