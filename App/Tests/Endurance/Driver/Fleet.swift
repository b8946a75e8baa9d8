/// The processes of a run.
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

    /// Kills one process, which the number chooses, or the first that starts a refresh, some time after that. Starts
    /// another in its place, and returns whether one was killed.
    func replaceOne(number: Int, inRefresh: Bool, after delay: Duration = .zero) async throws -> Bool {
        let victim = inRefresh ? await killInRefresh(after: delay) : number % count
        guard let victim else { return false }
        if !inRefresh { running[victim].kill() }
        _ = await running[victim].end()
        killed.append(running[victim])
        running[victim] = try await make()
        return true
    }

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

    /// Whether something is true of each running process.
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
