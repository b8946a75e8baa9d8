#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import PostgreSQLStorage
import Storage

/// Refreshes the sessions of many accounts in a database, without an engine: under a lease it reads, records an intent,
/// and stores the next generation.
///
/// It writes `ready`, starts with the first line of its input, writes its counts, and ends with its input.
struct AccountsPeer {
    let connection: String
    let prefix: String
    let count: Int

    /// Whether the changes of every account are watched meanwhile.
    let isWatching: Bool

    init?(_ arguments: [String]) {
        guard arguments.count == 4, let count = Int(arguments[2]) else { return nil }
        connection = arguments[0]
        prefix = arguments[1]
        self.count = count
        isWatching = arguments[3] == "yes"
    }

    private struct Tally {
        var refreshed = 0
        var failures: [String: Int] = [:]
    }

    func run() async {
        var limits = PostgreSQLLimits()
        // The machine of a test may be slow.
        (limits.call, limits.connect, limits.statement) = (.seconds(3_600), .seconds(600), .seconds(600))
        let first = PostgreSQLTokenStore(
            connection: connection, account: prefix, cipher: UnencryptedTokenCipher(), limits: limits)
        let stores = (0..<count).map { first.store(for: "\(prefix)/\($0)") }
        let watches = isWatching ? stores.map { store in Task { for await _ in store.changes {} } } : []
        StandardIO.write("ready")
        _ = readLine()
        let tally = Locked(Tally())
        let duration = await ContinuousClock().measure { await refreshAll(stores, tally) }
        let (refreshed, failures) = tally.withLock { ($0.refreshed, $0.failures) }
        StandardIO.write(
            "done \(refreshed) \(failures.values.reduce(0, +)) \(duration / .seconds(1)) \(Self.peakMemory)")
        for (reason, count) in failures { StandardIO.write("failed \(count) times: \(reason)") }
        StandardIO.write("end")
        while readLine() != nil {}
        for watch in watches { watch.cancel() }
    }

    /// Refreshes each account once, 200 at a time.
    private func refreshAll(_ stores: [PostgreSQLTokenStore], _ tally: Locked<Tally>) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                if number >= 200 { await group.next() }
                group.addTask {
                    do {
                        try await refresh(store)
                        tally.withLock { $0.refreshed += 1 }
                    } catch {
                        tally.withLock { $0.failures["\(error)", default: 0] += 1 }
                    }
                }
            }
        }
    }

    /// What the engine does with the store in one refresh.
    private func refresh(_ store: PostgreSQLTokenStore) async throws {
        let lease = try await store.lease(waitingAtMost: .seconds(3_600))
        let intent = RefreshIntent(
            idempotencyKey: UUID().uuidString, owner: .current, date: Date(), lease: lease.identity)
        let session = SessionID(rawValue: store.account)
        let first = TokenBundle(accessToken: "access-0", refreshToken: "refresh-0", session: session)
        do {
            let current = try await store.read().bundle ?? first
            try await store.update { _ in .active(current.with(refreshIntent: intent)) }
            let generation = current.generation + 1
            try await store.save(
                TokenBundle(
                    accessToken: "access-\(generation)", refreshToken: "refresh-\(generation)", session: session,
                    generation: generation))
        } catch {
            await lease.release()
            throw error
        }
        await lease.release()
    }

    /// The most memory the process has had, in megabytes.
    private static var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) / 1_024
    }
}
#endif
