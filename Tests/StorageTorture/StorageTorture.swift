import AuthInterface
import Foundation
import Storage

/// A process for the storage tests to kill: `StorageTorture COMMAND FOLDER [NUMBER]`.
///
/// It says on standard output how far it has come, one line at a time, and leaves when its standard input ends, so that
/// it does not outlive the tests.
@main
struct StorageTorture {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let command = Command(rawValue: arguments[1]) else {
            return say("usage: StorageTorture COMMAND FOLDER [NUMBER]")
        }
        let store = FileTokenStore(folder: URL(fileURLWithPath: arguments[2]))
        let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
        do {
            try await command.run(on: store, number)
        } catch let error as TokenStoreError {
            say("\(error.code): \(error.reason)")
        } catch {
            say("\(error)")
        }
    }

    /// Writes one line, at once.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
