import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import ProgramTesting
import TokenRefresh

/// S20: three processes over one session with an OAuth 2 provider, one of which is killed at intervals.
struct ProviderRun {
    let options: RunCommand

    private let clock = SystemTimeSource()

    func perform(_ claims: inout Claims) async throws {
        note(
            "S20: \(options.minutes) minutes, a kill every \(options.killEvery) s, access tokens of "
                + "\(options.accessLifetime) s, a grace window of \(options.grace) s")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let provider = try await Provider(options)
        defer { provider.stop() }
        try await provider.signIn(in: folder)
        let peers = Fleet(count: 3) { try await provider.peer(in: folder, rate: options.rate / 3) }
        try await peers.start()
        let start = clock.uptime
        let end = start + .seconds(options.minutes * 60)
        var kills = 0
        while clock.uptime < end {
            let next = min(clock.uptime + .seconds(options.killEvery), end)
            try? await clock.sleep(until: next)
            guard clock.uptime < end else { break }
            // Every second kill is in the middle of a refresh.
            if try await peers.replaceOne(number: kills, inRefresh: kills.isMultiple(of: 2)) { kills += 1 }
            if kills.isMultiple(of: 6) { note("  \(kills) kills, \(try await provider.counters())") }
        }
        let counts = await peers.stop()
        let seconds = (clock.uptime - start) / .seconds(1)
        let counters = try await provider.counters()
        note("  \(Int(seconds)) s, \(kills) kills, \(counters)")
        claims.recordEnd("S20", of: peers, counts)
        let usable = Double(options.accessLifetime) * 0.75
        let most = Int(1.3 * seconds / usable) + 1 + kills
        let least = Int(seconds / Double(options.accessLifetime + 1) / 2)
        claims.record(
            "S20", counters,
            [
                ("reuses", 0...0, "no reuse is detected"), ("refused", 0...0, "no refresh is refused"),
                ("sign_ins", 1...1, "one sign-in"),
                ("rotations", least...max(most, least), "rotations are from \(least) to \(most)"),
            ])
        claims.record("S20: processes were killed", kills > 0 || options.minutes * 60 <= options.killEvery, kills)
        try await claims.recordSession("S20", provider.session(in: folder))
    }
}
