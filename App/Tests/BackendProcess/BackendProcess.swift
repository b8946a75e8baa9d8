import DevBackend
import Foundation

/// A DevBackend in a process of its own, for tests that kill it: `BackendProcess DATABASE`. It prints its base URL.
@main struct BackendProcess {
    static func main() async throws {
        var configuration = DevBackend.Configuration()
        configuration.database = .file(CommandLine.arguments[1])
        let backend = try await DevBackend.start(configuration)
        // The C library would keep the line until the end, which a kill prevents.
        FileHandle.standardOutput.write(Data("\(backend.baseURL)\n".utf8))
        await backend.run()
    }
}
