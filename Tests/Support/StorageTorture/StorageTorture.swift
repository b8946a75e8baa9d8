import AuthInterface
import Foundation

@testable import Storage

/// A process for the storage tests to kill: `StorageTorture COMMAND FOLDER [NUMBER]`.
///
/// It says on standard output how far it has come, one line at a time. `TORTURE_STORE` in the environment chooses the
/// store: with `keyring` the tokens are in the keyring and FOLDER has the locks; with `application` they are in the
/// usual folder of an application that has FOLDER's name.
@main
struct StorageTorture {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let command = Command(rawValue: arguments[1]) else {
            return say("usage: StorageTorture COMMAND FOLDER [NUMBER]")
        }
        let folder = URL(fileURLWithPath: arguments[2])
        let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
        do {
            try await command.run(on: { makeStore(folder) }, folder, number)
        } catch {
            say(error)
        }
    }

    /// Writes one line, at once.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Says what was thrown.
    static func say(_ error: any Error) {
        say((error as? TokenStoreError).map { "\($0.code): \($0.reason)" } ?? "\(error)")
    }

    private static func makeStore(_ folder: URL) -> any SharedTokenStore {
        let kind = ProcessInfo.processInfo.environment["TORTURE_STORE"]
        if kind == "application" { return FileTokenStore(application: folder.lastPathComponent) }
        #if os(Linux)
        if kind == "keyring" { return SecretServiceTokenStore.torture(locks: folder) }
        #endif
        // The disks of the tests are in memory. They count as durable, so that there are notes about them.
        let known = KnownFolders(stateFolder: TokenFolderLocation.state().folder.path, isDurable: { _ in true })
        return FileTokenStore(folder: folder, anchor: nil, known: known)
    }
}
