import Foundation
import ProcessTesting

extension SpawnedProcess {
    /// Starts a process that uses a store: `Peer storage COMMAND FOLDER NUMBER`.
    convenience init(
        peer command: String,
        _ folder: URL,
        _ number: Int = 0,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        try self.init(
            Self.peer,
            ["storage", command, folder.path, "\(number)"],
            environment: environment
        )
    }
}
