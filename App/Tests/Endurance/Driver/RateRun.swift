import AuthInterface
import ConcurrencyPrimitives
import DevBackend
import Foundation
import ProgramTesting

/// S14: three processes share a store and send requests at a constant rate, at full length.
struct RateRun {
    /// The lifetime of the access tokens, in seconds.
    let lifetime: Int
    /// The requests of all three processes, per second.
    let rate: Double

    /// Three lifetimes, and for long ones a little more than one.
    private var duration: Duration { .seconds(max(60, min(3 * lifetime, lifetime + 300))) }

    /// The time of a token before its first window begins (G3).
    private var usable: Double { Double(lifetime) - min(60, Double(lifetime) / 4) }

    func perform(_ claims: inout Claims) async throws {
        let name = "S14, tokens of \(lifetime) s"
        note("\(name): three processes, \(rate) requests per second, \(duration.inWords)")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var configuration = DevBackend.Configuration()
        configuration.accessTokenLifetime = .seconds(lifetime)
        try await DevBackend.withServer(configuration) { backend in
            try await PeerSession.signIn(to: backend, in: folder)
            let clock = SystemTimeSource()
            let start = clock.uptime
            let peers = Fleet(count: 3) {
                try await PeerProcess(of: backend.baseURL, kind: .backend, in: folder, rate: rate / 3)
            }
            try await peers.start()
            try? await clock.sleep(until: start + duration)
            let counts = await peers.stop()

            let seconds = (clock.uptime - start) / .seconds(1)
            let most = Int(1.3 * seconds / usable) + 1
            let refreshes = backend.statistics.refreshes
            claims.record("\(name): at most \(most) refreshes", refreshes.received <= most, "\(refreshes)")
            claims.recordEnd(name, of: peers, counts)
            let sent = counts.compactMap(\.self).reduce(0, +)
            let least = Int(seconds * rate / 2)
            claims.record("\(name): at least \(least) requests", sent >= least, sent)
        }
    }
}
