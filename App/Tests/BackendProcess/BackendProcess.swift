import DevBackend
import Foundation

/// A DevBackend in a process of its own, for tests that kill it or measure its memory:
/// `BackendProcess DATABASE [IDLE-TIMEOUT]`, the timeout of a body in milliseconds. It prints its base URL.
@main struct BackendProcess {
    static func main() async throws {
        var configuration = DevBackend.Configuration()
        configuration.database = .file(CommandLine.arguments[1])
        if let timeout = CommandLine.arguments.dropFirst(2).first.flatMap({ Int($0) }) {
            configuration.limits.bodyIdleTimeout = .milliseconds(timeout)
        }
        let backend = try await DevBackend.start(configuration)
        // The C library would keep the line until the end, which a kill prevents.
        FileHandle.standardOutput.write(Data("\(backend.baseURL)\n".utf8))
        await backend.run()
    }
}
