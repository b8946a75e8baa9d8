import ConcurrencyPrimitives

final class Fleet {
    private let make: () async throws -> PeerProcess
    private let count: Int
    private var running: [PeerProcess] = []
    private var killed: [PeerProcess] = []

    init(count: Int, make: @escaping () async throws -> PeerProcess) {
        self.count = count
        self.make = make
    }

    deinit { for process in running { process.kill() } }

    func start() async throws {
        for _ in 0..<count { running.append(try await make()) }
    }

    /// Kills processes at random instants until the end, every second one in a refresh, and starts others in their
    /// place. Returns how many were killed.
    func replaceSome(every seconds: Double, until end: Duration, callTakes longestCall: Duration) async throws -> Int {
        let clock = SystemTimeSource()
        var kills = 0
        while true {
            let pause = Duration.seconds(seconds * .random(in: 0.5...1.5))
            try? await clock.sleep(until: min(clock.uptime + pause, end))
            guard clock.uptime < end else { return kills }
            let delay = longestCall * Double.random(in: 0...1)
            let victim = kills.isMultiple(of: 2) ? await killInRefresh(after: delay) : killAny()
            guard let victim else { continue }
            await running[victim].end()
            killed.append(running[victim])
            running[victim] = try await make()
            kills += 1
        }
    }

    private func killAny() -> Int {
        let victim = Int.random(in: 0..<count)
        running[victim].kill()
        return victim
    }

    /// Kills the first process that starts a refresh, some time after that. `nil`: none does.
    private func killInRefresh(after delay: Duration) async -> Int? {
        let order = PeerProcess.KillOrder(after: delay)
        for (index, process) in running.enumerated() { process.killInRefresh(order, index: index) }
        _ = await wait(atMost: .seconds(60)) { order.victim != nil }
        return order.victim
    }

    func killAll() async {
        for process in running { process.kill() }
        for process in running { await process.end() }
        killed += running
        running = []
    }

    func each(_ condition: (PeerProcess) -> Bool) -> Bool { running.allSatisfy(condition) }

    /// - Returns: The number of requests of each process.
    func stop() async -> [Int?] {
        var counts: [Int?] = []
        for process in running { counts.append(await process.stop()) }
        return counts
    }

    func removeFailures() { for process in running { process.removeFailures() } }

    var failures: [String] { (running + killed).flatMap(\.failures) }

    func events(_ name: String) -> Int { (running + killed).reduce(0) { $0 + $1.events(name) } }
}
