import ArgumentParser
import ConcurrencyPrimitives
import Foundation
import NIOConcurrencyHelpers
import TokenRefresh
import UnixSignals

/// One of several processes over a stored session. It sends requests at a constant rate until SIGTERM.
///
/// | line | meaning |
/// |---|---|
/// | `event NAME` | an event of the engine |
/// | `failed CODE TEXT` | a request failed |
/// | `done COUNT` | the process ends by itself, after this number of requests |
struct PeerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peer", shouldDisplay: false)

    /// The environment variable for the client's secret.
    static let secretVariable = "ENDURANCE_CLIENT_SECRET"

    @Option var folder: String
    /// The base URL.
    @Option var server: String
    /// `provider` or `backend`.
    @Option var kind: ServerKind
    @Option var client = ""
    @Option var grace = 0
    /// Requests per second.
    @Option var rate: Double

    enum ServerKind: String, ExpressibleByArgument { case provider, backend }

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server must be a URL") }
        let session = PeerSession(
            url: url, folder: URL(fileURLWithPath: folder), kind: kind, client: client, grace: grace,
            observer: { note("event \(Mirror(reflecting: $0).children.first?.label ?? "\($0)")") })
        let isStopped = NIOLockedValueBox(false)
        let signals = await UnixSignalsSequence(trapping: .sigterm)
        let signalTask = Task {
            for await _ in signals { isStopped.withLockedValue { $0 = true } }
        }
        defer { signalTask.cancel() }
        let clock = SystemTimeSource()
        let start = clock.uptime
        var count = 0
        await withTaskGroup(of: Void.self) { group in
            while !isStopped.withLockedValue({ $0 }) {
                try? await clock.sleep(until: start + .seconds(Double(count) / rate))
                count += 1
                group.addTask { await session.sendOne() }
            }
        }
        await session.coordinator.settle()
        note("done \(count)")
    }
}
