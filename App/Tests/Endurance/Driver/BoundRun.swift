import ConcurrencyPrimitives
import Foundation
import ProgramTesting

/// S27: three processes over one session that is bound to a key, at servers that demand DPoP with nonces that change.
/// One of them is killed at intervals, and twice the key cannot be read for a while.
struct BoundRun {
    let options: RunCommand
    let transport: Transport

    private let clock = SystemTimeSource()
    private var name: String { "S27 over \(transport.rawValue)" }

    /// The lifetime of nonces, in seconds. The one before is accepted too.
    static let nonceLifetime = 3.0

    /// A limit for what a busy machine does late.
    private static let patience = Duration.seconds(120)

    func perform(_ claims: inout Claims) async throws {
        note(
            "\(name): \(options.minutes) minutes, a kill about every \(options.killEvery) s, access tokens of "
                + "\(RunCommand.accessLifetime) s, nonces of \(Self.nonceLifetime) s")
        let folder = try TemporaryFolder()
        let profile = try await StrictProfile(options, in: folder, over: transport)
        defer { profile.stop() }
        let peers = Fleet(count: 3) { try await profile.peer() }
        try await peers.start()
        let start = clock.uptime
        let duration = Duration.seconds(options.minutes * 60)
        var kills = 0
        for (index, loss) in StrictProfile.KeyLoss.allCases.enumerated() {
            kills += try await kill(peers, until: start + duration * (index + 1) / 3)
            try await loseKey(loss, of: profile, peers, &claims)
            kills += 3
        }
        kills += try await kill(peers, until: start + duration)
        let counts = await peers.stop()
        let seconds = (clock.uptime - start) / .seconds(1)
        let counters = try await profile.counters()
        note("  \(Int(seconds)) s, \(kills) kills; \(counters)")
        check(&claims, counters, peers, seconds: seconds, kills: kills, counts: counts)
        try await checkStored(&claims, profile)
    }

    private func kill(_ peers: Fleet, until end: Duration) async throws -> Int {
        try await peers.replaceSome(every: options.killEvery, until: end, callTakes: .milliseconds(400))
    }

    /// Makes the key unreadable, and replaces all processes, of which some have it in memory.
    private func loseKey(
        _ loss: StrictProfile.KeyLoss, of profile: StrictProfile, _ peers: Fleet, _ claims: inout Claims
    ) async throws {
        note("  the key cannot be read: \(loss.rawValue)")
        let name = "\(name), without the key (\(loss))"
        try profile.takeKeyAway(loss)
        await peers.killAll()
        let without = Fleet(count: 3) { try await profile.peer() }
        try await without.start()
        let haveFailed = await wait(atMost: Self.patience) { without.each { !$0.failures.isEmpty } }
        claims.record("\(name): each process is unavailable", haveFailed, haveFailed)
        let before = try await profile.counters()
        // The access token expires, and cannot be replaced.
        let hasTried = await wait(atMost: Self.patience) { without.events("refreshFailed") > 0 }
        claims.record("\(name): a refresh fails", hasTried, hasTried)
        let after = try await profile.counters()
        claims.record(
            "\(name): nothing is sent",
            before["refreshes"] == after["refreshes"]
                && before["resource_ok"] == after["resource_ok"], after)

        try profile.bringKeyBack(loss)
        let areBack = await wait(atMost: Self.patience) {
            without.each { $0.events("refreshed") + $0.events("adopted") > 0 }
        }
        claims.record("\(name): each process goes on when the key is back", areBack, areBack)
        let counts = await without.stop()
        let others = failures(of: without).filter { failure in
            !["storeUnavailable ", "refreshUnavailable "].contains { failure.hasPrefix($0) }
        }
        claims.recordEnd("\(name), but as unavailable", of: without, counts, failures: others)
        try await peers.start()
    }

    /// The failures of requests, without those of proofs that were used twice: on Linux, libcurl repeats a request
    /// whose connection was closed.
    private func failures(of peers: Fleet) -> [String] {
        let isRepeating = transport == .urlSession
        return peers.failures.filter { !isRepeating || !$0.contains("→ 401 invalid_dpop_proof") }
    }

    private func check(
        _ claims: inout Claims, _ counters: Counters, _ peers: Fleet, seconds: Double, kills: Int, counts: [Int?]
    ) {
        let repeats = counters["proofs_refused_jti"]
        switch transport {
        case .asyncHTTPClient: claims.record("\(name): no proof is used twice", repeats == 0, repeats)
        case .urlSession: note("  \(repeats) proofs were repeated by libcurl after \(counters["cuts"]) cuts")
        }
        claims.recordEnd(name, of: peers, counts, failures: failures(of: peers))
        let most = Int(1.3 * seconds / (Double(RunCommand.accessLifetime) * 0.75)) + 1 + kills
        let changes = Int(seconds / Self.nonceLifetime / 2)
        let least = Int(seconds * RunCommand.rate / 10)
        claims.record(
            name, counters,
            [
                ("proofs_refused", repeats...repeats, "no proof is wrong"),
                ("reuses", 0...0, "no token is used after a success"),
                ("repeats_by_key", 0...kills, "but with the key of the call before, after a kill"),
                ("refused", 0...0, "no refresh is refused"), ("sign_ins", 1...1, "one sign-in"),
                ("rotations", 0...most, "at most \(most) rotations"),
                ("challenges", changes...Int.max, "at least \(changes) challenges"),
                ("resource_ok", least...Int.max, "at least \(least) requests"),
            ])
    }

    private func checkStored(_ claims: inout Claims, _ profile: StrictProfile) async throws {
        try await claims.recordSession(name, profile.session.start())
        let modes = try profile.session.keyFiles().map { file in
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            return String(mode ?? 0, radix: 8)
        }
        claims.record("\(name): and its key, in one file of mode 0600", modes == ["600"], modes)
    }
}
