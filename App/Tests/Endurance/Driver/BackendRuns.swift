import ConcurrencyPrimitives
import DevBackend
import ProgramTesting

/// S14: three processes share a store and send requests at a constant rate, at full length.
struct RateRun {
    /// The lifetime of the access tokens, in seconds.
    let lifetime: Int

    private let rate = RunCommand.rate

    /// Three lifetimes, and for long ones a little more than one.
    private var duration: Duration { .seconds(max(60, min(3 * lifetime, lifetime + 300))) }

    /// The time of a token before its first window begins (G3).
    private var usable: Double { Double(lifetime) - min(60, Double(lifetime) / 4) }

    func perform(_ claims: inout Claims) async throws {
        let name = "S14, tokens of \(lifetime) s"
        note("\(name): three processes, \(rate) requests per second, \(duration.inWords)")
        let folder = try TemporaryFolder()
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

/// S13 and S15: the server rotates at once and responds late, with two processes, at full length.
struct SlowResponseRun {
    let name: String
    let delay: Duration

    private var isPastDeadline: Bool { delay > .seconds(30) }

    func perform(_ claims: inout Claims) async throws {
        note("\(name): the server rotates at once and responds after \(delay.inWords); two processes, no grace window")
        let folder = try TemporaryFolder()
        try await DevBackend.withServer { backend in
            try await PeerSession.signIn(to: backend, in: folder)
            let peers = Fleet(count: 2) {
                try await PeerProcess(of: backend.baseURL, kind: .backend, in: folder, rate: 4)
            }
            try await peers.start()
            _ = await wait(atMost: .seconds(60)) { backend.statistics.count("GET", "/users/me", status: 200) >= 8 }
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delayResponse(delay), times: 1)])
            try await backend.expireAccessTokens()
            await observe(peers, &claims)
            let counts = await peers.stop()
            claims.recordEnd("\(name), afterwards", of: peers, counts)
            let refreshes = backend.statistics.refreshes
            claims.record(
                "\(name): one refresh reached the server", refreshes == .init(received: 1, committed: 1), "\(refreshes)"
            )
        }
    }

    private func observe(_ peers: Fleet, _ claims: inout Claims) async {
        let isRefreshed = await wait(atMost: delay + .seconds(30)) { peers.events("refreshed") > 0 }
        claims.record("\(name): the response is kept", isRefreshed, isRefreshed)
        if isPastDeadline {
            let late = peers.events("lateResponseKept")
            claims.record("\(name): the response is kept as a late one", late == 1, late)
            let isAdopted = await wait(atMost: .seconds(60)) { peers.events("adopted") > 0 }
            claims.record("\(name): the other process adopts the response", isAdopted, isAdopted)
        }
        let failures = peers.failures
        let areUnavailable = failures.allSatisfy { $0.hasPrefix("refreshUnavailable") }
        let isAsExpected = isPastDeadline ? areUnavailable && !failures.isEmpty : failures.isEmpty
        let expectation = isPastDeadline ? "requests fail as unavailable until then" : "no request fails"
        let other = failures.first { !$0.hasPrefix("refreshUnavailable") } ?? ""
        claims.record("\(name): \(expectation)", isAsExpected, "\(failures.count) failures \(other)")
        peers.removeFailures()
        _ = await wait(atMost: .seconds(5)) { false }
    }
}
