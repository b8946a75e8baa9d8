import Foundation
import ProcessTesting

extension SpawnedProcess {
    /// Starts a `StorageTorture` process, which is built beside the bundle of the tests.
    convenience init(
        torture command: String,
        _ folder: URL,
        _ number: Int = 0,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        try self.init(
            Self.buildFolder.appendingPathComponent("StorageTorture").path,
            [command, folder.path, "\(number)"],
            environment: environment
        )
    }
}
