#if PostgreSQL
import AuthInterface

/// Tells the stores of a process about changes of rows and releases of leases, by any process.
///
/// One connection for all accounts listens for what ``ChangeReport`` says. Where that is not possible, behind a pooler
/// in transaction mode, the versions of the watched rows are looked at every `PostgreSQLLimits.changePolling`.
///
/// Nothing runs and no connection is opened before the first stream is asked for.
final class ChangeFeed: Sendable {
    private let watching: ChangeWatch
    private let task = Locked<Task<Void, Never>?>(nil)

    init(watching: ChangeWatch) {
        self.watching = watching
    }

    deinit {
        task.withLock { $0?.cancel() }
        watching.subscribers.finish()
    }

    /// Whether reports are listened for now.
    var isListening: Bool { watching.isListening }

    /// Reports that the session of an account may have changed.
    func changes(of account: String) -> AsyncStream<Void> {
        start()
        return watching.subscribers.stream(of: .changed(account), account: account)
    }

    /// Reports that the lease of an account was released, where that can be listened for.
    func releases(of account: String) -> AsyncStream<Void> {
        start()
        return watching.subscribers.stream(of: .released(account), account: account)
    }

    /// Reports a change that this process has made, where it is not listened for.
    func noteOwnChange(of account: String, version: Int64?) {
        guard !isListening else { return }
        watching.subscribers.note(version ?? 0, of: account)
    }

    private func start() {
        task.withLock { task in
            if task == nil { task = Task { [watching] in await watching.run() } }
        }
    }
}

/// The streams of a ``ChangeFeed``, by what they wait for.
final class ChangeSubscribers: Sendable {
    private struct Subscriber {
        let account: String
        let continuation: AsyncStream<Void>.Continuation
    }

    private struct State {
        var last = 0
        var byReport: [ChangeReport: [Int: Subscriber]] = [:]

        /// The version of a watched account's row when it was last looked at. Zero: no row.
        var versions: [String: Int64] = [:]
    }

    private let state = Locked(State())

    /// A stream of its own for one kind of report.
    func stream(of report: ChangeReport, account: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.byReport[report, default: [:]][state.last] = Subscriber(account: account, continuation: continuation)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number, of: report, account: account) }
        return stream
    }

    func send(_ report: ChangeReport) {
        let subscribers = state.withLock { Array(($0.byReport[report] ?? [:]).values) }
        for subscriber in subscribers { subscriber.continuation.yield() }
    }

    /// Sends every report: some may have been missed.
    func sendAll() {
        let all = state.withLock { $0.byReport.values.flatMap(\.values) }
        for subscriber in all { subscriber.continuation.yield() }
    }

    /// The accounts whose changes a stream waits for.
    var watchedAccounts: [String] {
        state.withLock { state in
            state.byReport.filter { if case .changed = $0.key { true } else { false } }
                .values.flatMap { $0.values.map(\.account) }
        }
    }

    /// Notes the version of an account's row, and reports a change if it is another than before, or the first.
    func note(_ version: Int64, of account: String) {
        let isNews = state.withLock { state in
            guard state.byReport[.changed(account)] != nil, state.versions[account] != version else { return false }
            state.versions[account] = version
            return true
        }
        if isNews { send(.changed(account)) }
    }

    func finish() {
        let all = state.withLock { $0.byReport.values.flatMap(\.values) }
        for subscriber in all { subscriber.continuation.finish() }
    }

    private func remove(_ number: Int, of report: ChangeReport, account: String) {
        state.withLock { state in
            state.byReport[report]?[number] = nil
            guard state.byReport[report]?.isEmpty == true else { return }
            state.byReport[report] = nil
            if case .changed = report { state.versions[account] = nil }
        }
    }
}
#endif
