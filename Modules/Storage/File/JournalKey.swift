import AuthInterface
import Foundation

/// The key that the names of the journals in a folder are digests with: 32 random bytes, and their checksum.
///
/// An earlier version wrote no checksum, and reads a key that has one as damaged.
struct JournalKey {
    static let name = "key"
    static let sizeLimit = KeyedHash.keySize + CRC64.textLength

    let hasChecksum: Bool
    private let bytes: Data

    init() { (bytes, hasChecksum) = (KeyedHash.randomKey(), true) }

    /// `nil`: the content of the file is not what was written.
    init?(_ content: Data) {
        bytes = content.prefix(KeyedHash.keySize)
        hasChecksum = content.count > KeyedHash.keySize
        guard content == (hasChecksum ? self.content : bytes), bytes.count == KeyedHash.keySize else { return nil }
    }

    /// The key as it is written.
    var content: Data { bytes + Data(CRC64.text(of: bytes).utf8) }

    func fileName(of identity: String) -> String {
        let digest = KeyedHash(key: bytes).digest(of: identity).prefix(16)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + JournalLocation.fileSuffix
    }
}
