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

    init(options: RunCommand) {
        self.options = options
    }

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
            if kills.isMultiple(of: 6) { note("  \(kills) kills, \(try await provider.statistics())") }
        }
        let counts = await peers.stop()
        let seconds = (clock.uptime - start) / .seconds(1)
        let statistics = try await provider.statistics()
        note("  \(Int(seconds)) s, \(kills) kills, \(statistics)")
        check(&claims, statistics, peers, seconds: seconds, kills: kills, counts: counts)
        let state = try await provider.session(in: folder).coordinator.restore()
        var isSignedIn = false
        if case .signedIn = state { isSignedIn = true }
        claims.record("S20: the store holds the session at the end", isSignedIn, "\(state)")
    }

    private func check(
        _ claims: inout Claims,
        _ statistics: Provider.Statistics,
        _ peers: Fleet,
        seconds: Double,
        kills: Int,
        counts: [Int?]
    ) {
        let failures = peers.failures
        claims.record(
            "S20: no request fails, except those of a killed process", failures.isEmpty,
            "\(failures.count) \(failures.first ?? "")")
        claims.record("S20: no sign-out", peers.events("signedOut") == 0, "\(peers.events("signedOut")) endings")
        claims.record("S20: no reuse is detected", statistics.reuses == 0, statistics.reuses)
        claims.record("S20: no refresh is refused", statistics.refused == 0, statistics.refused)
        claims.record("S20: one sign-in", statistics.signIns == 1, statistics.signIns)
        let usable = Double(options.accessLifetime) * 0.75
        let most = Int(1.3 * seconds / usable) + 1 + kills
        let least = Int(seconds / Double(options.accessLifetime + 1) / 2)
        claims.record(
            "S20: rotations are from \(least) to \(most)", (least...max(most, least)).contains(statistics.rotations),
            statistics.rotations)
        claims.record("S20: processes were killed", kills > 0 || options.minutes * 60 <= options.killEvery, kills)
        claims.record("S20: the other processes end by themselves", !counts.contains(nil), counts.compactMap(\.self))
    }
}
