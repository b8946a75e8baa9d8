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
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

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
}

extension TokenBundle {
    /// A bundle of a session, with a generation that its tokens repeat.
    static func numbered(_ generation: Int, of session: SessionID = SessionID(rawValue: "session-1")) -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(generation)",
            refreshToken: "refresh-\(generation)",
            expiresAt: Date(timeIntervalSinceReferenceDate: 800_000_000.25),
            clockSkew: -1.5,
            session: session,
            generation: generation
        )
    }
}

extension RefreshIntent {
    /// An intent of another process that was recorded under a lease.
    static func test(_ host: String = ProcessIdentity.current.host, under lease: String?) -> RefreshIntent {
        RefreshIntent(
            idempotencyKey: "key",
            owner: ProcessIdentity(host: host, process: "1-another"),
            date: Date(),
            lease: lease
        )
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

extension FileTokenStore {
    enum Call: CaseIterable {
        case read, save, delete, update, lease
    }

    /// Expects that calls fail with a code, and with some words in their reasons.
    func expectFailures(
        of calls: [Call] = Call.allCases, _ code: TokenStoreError.Code, _ words: String = "/"
    ) async {
        for call in calls {
            let error = await storeError {
                switch call {
                case .read: _ = try await read()
                case .save: try await save(.numbered(2))
                case .delete: try await delete()
                case .update: try await update { _ in .active(.numbered(9)) }
                case .lease: _ = try await lease(waitingAtMost: .zero)
                }
            }
            #expect(error?.code == code, "\(call)")
            #expect(error?.reason.contains(words) == true, "\(call): \(error?.reason ?? "none")")
        }
    }
}

extension PrivateFolder {
    /// Opens a folder that exists.
    static func existing(_ folder: URL) throws -> PrivateFolder {
        guard let opened = try open(folder.path) else { throw CocoaError(.fileNoSuchFile) }
        return opened
    }
}

extension TokenFolder {
    /// A folder whose parent must exist, and about which no note is written.
    static func test(_ path: String, anchor: String? = nil) -> TokenFolder {
        TokenFolder(
            path: path,
            anchor: anchor ?? (path as NSString).deletingLastPathComponent,
            access: .owner,
            known: KnownFolders(stateFolder: "/nowhere")
        )
    }
}
