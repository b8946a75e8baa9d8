import AuthInterface
import Foundation
import Testing

@testable import Storage

extension URL {
    /// The permissions of a file or folder in octal.
    var permissions: String {
        get throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return String((attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0, radix: 8)
        }
    }

    func setPermissions(_ permissions: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    /// The names of the files in a folder, in order.
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

    /// Writes a file with the mode that a store accepts.
    func writePrivately(_ data: Data) throws {
        try deletingLastPathComponent().makePrivateFolder()
        try data.write(to: self)
        try setPermissions(0o600)
    }

    /// Creates a folder with the mode that a store accepts, if it does not exist.
    func makePrivateFolder() throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: self, withIntermediateDirectories: true, attributes: attributes)
    }

    /// The file of the journal in a folder that has one.
    var journalFile: URL {
        get throws { appendingPathComponent(try #require(try names.first { $0.hasSuffix(".json") })) }
    }
}

extension TokenBundle {
    /// A bundle of a session, with a generation that its tokens repeat.
    static func numbered(_ generation: Int, of session: SessionID = SessionID(rawValue: "session-1")) -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(generation)", refreshToken: "refresh-\(generation)",
            expiresAt: Date(timeIntervalSinceReferenceDate: 800_000_000.25), clockSkew: -1.5, session: session,
            generation: generation)
    }
}

extension RefreshIntent {
    /// An intent of another process that was recorded under a lease.
    static func test(_ host: String = ProcessIdentity.current.host, under lease: String?) -> RefreshIntent {
        RefreshIntent(
            idempotencyKey: "key", owner: ProcessIdentity(host: host, process: "1-another"), date: Date(), lease: lease)
    }
}

extension TokenStore {
    /// Expects that a bundle which is saved is loaded again.
    func expectRoundTrip(of bundle: TokenBundle, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await save(bundle)
        #expect(try await load() == bundle, sourceLocation: sourceLocation)
    }
}

/// The code and the reason of the error that a call throws.
func storeError(of call: () async throws -> Void) async -> (code: TokenStoreError.Code, reason: String)? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? TokenStoreError).map { ($0.code, $0.reason) }
    }
}

enum StoreCall: CaseIterable { case load, save, delete, update, lease }

extension TokenStore {
    /// Expects that calls, by default all that the store has, fail with a code, and with some words in their reasons.
    func expectFailures(
        of calls: [StoreCall]? = nil, _ code: TokenStoreError.Code, _ words: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let shared = self as? any SharedTokenStore
        // An error of a file names its path.
        let words = words ?? (self is FileTokenStore ? "/" : " ")
        for call in calls ?? (shared == nil ? [.load, .save, .delete] : StoreCall.allCases) {
            let error = await storeError {
                switch call {
                case .load: _ = try await load()
                case .save: try await save(.numbered(2))
                case .delete: try await delete()
                case .update: try await shared?.update { _ in .active(.numbered(9)) }
                case .lease: _ = try await shared?.lease(waitingAtMost: .zero)
                }
            }
            #expect(error?.code == code, "\(call)", sourceLocation: sourceLocation)
            let reason = error?.reason ?? "none"
            #expect(reason.contains(words), "\(call): \(reason)", sourceLocation: sourceLocation)
        }
    }
}

extension Data {
    /// A file of version 2 with a checksum, and the given content.
    static func envelope(_ content: String?) -> Data {
        Data("\(content.map { $0 + "," } ?? "")\"format\":\"latchkey-tokens\",\"version\":2}".utf8).afterChecksum
    }

    /// A file with this after its checksum.
    var afterChecksum: Data { Data("{\"checksum\":\"\(CRC64.text(of: self))\",".utf8) + self }

    /// The same content with its own checksum, if it has one.
    var withChecksum: Data {
        let start = Data("{\"checksum\":\"".utf8)
        guard starts(with: start) else { return self }
        return dropFirst(start.count + CRC64.textLength + 2).afterChecksum
    }
}

extension PrivateFolder {
    /// Opens a folder that exists, by default as it is, or as it would be on another device.
    static func existing(_ folder: URL, onDevice device: UInt64? = nil) throws -> PrivateFolder {
        guard let opened = try open(folder.path) else { throw CocoaError(.fileNoSuchFile) }
        guard let device else { return opened }
        return PrivateFolder(
            path: folder.path, descriptor: Descriptor(number: dup(opened.descriptor.number)), access: .owner,
            identity: FolderIdentity(device: device, inode: opened.identity.inode, fileSystem: 0))
    }
}
