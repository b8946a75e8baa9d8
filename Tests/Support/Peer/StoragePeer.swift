import AuthInterface
import Foundation

@testable import Storage

/// A process that uses a store, for tests that stop it, kill it or run several at once.
///
/// `STORE` in the environment chooses the store. With `keyring` the tokens are in the keyring and FOLDER has the locks;
/// with `application` they are in the default folder of an application that has FOLDER's name.
enum StoragePeer {
    static func run(_ arguments: [String]) async {
        guard let command = StorageCommand(rawValue: arguments[0]) else {
            return StandardIO.write("unknown command \(arguments[0])")
        }
        let folder = URL(fileURLWithPath: arguments[1])
        let number = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
        do {
            try await command.run(on: { makeStore(folder) }, folder, number)
        } catch {
            write(error)
        }
    }

    static func write(_ error: any Error) {
        StandardIO.write((error as? TokenStoreError).map { "\($0.code): \($0.reason)" } ?? "\(error)")
    }

    private static func makeStore(_ folder: URL) -> any SharedTokenStore {
        let kind = ProcessInfo.processInfo.environment["STORE"]
        if kind == "application" { return FileTokenStore(application: folder.lastPathComponent) }
        #if os(Linux)
        if kind == "keyring" { return SecretServiceTokenStore.test(locks: folder) }
        #endif
        // The disks of the tests are in memory. They count as durable, so that there are notes about them.
        let known = KnownFolders(stateFolder: TokenFolderLocation.state().folder.path, isDurable: { _ in true })
        return FileTokenStore(folder: folder, anchor: nil, known: known)
    }
}

extension SharedTokenStore {
    /// Saves the generation after the stored one, or the first, and returns its number.
    func saveNext() async throws -> Int {
        let next = try await load().map { $0.generation + 1 } ?? 0
        try await save(.large(next))
        return next
    }
}

extension TokenBundle {
    /// A bundle of about 10 KB that repeats its generation, so that a mix of two is noticed.
    static func large(_ generation: Int) -> TokenBundle {
        TokenBundle(
            accessToken: String(repeating: "a\(generation).", count: 1_500),
            refreshToken: String(repeating: "r\(generation).", count: 1_500), session: SessionID(rawValue: "large"),
            generation: generation)
    }
}
