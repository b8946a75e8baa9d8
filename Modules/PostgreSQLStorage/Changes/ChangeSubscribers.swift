#if PostgreSQL
import ConcurrencyPrimitives
import Foundation

/// The streams of a ``ChangeFeed``, by account.
final class ChangeSubscribers: Sendable {
    private struct Subscriber {
        let account: String
        let continuation: AsyncStream<Void>.Continuation

        /// The version of the row that was last reported, or known from the start.
        var seen: Int64?
    }

    private enum Kind { case changes, releases }

    private struct State {
        var last = 0
        var streams: [Kind: [AccountHash: [Int: Subscriber]]] = [:]

        func subscribers(to kind: Kind) -> [Subscriber] { streams[kind]?.values.flatMap(\.values) ?? [] }
    }

    private let state = Locked(State())

    func changes(of account: String, since version: Int64?) -> AsyncStream<Void> {
        stream(.changes, account, seen: version)
    }

    func releases(of account: String) -> AsyncStream<Void> { stream(.releases, account, seen: nil) }

    /// The accounts whose changes are watched, each once. Names are told apart by their bytes.
    var watchedAccounts: [String] {
        let all = state.withLock { $0.subscribers(to: .changes).map(\.account) }
        return Array(Dictionary(all.map { (Data($0.utf8), $0) }) { first, _ in first }.values)
    }

    /// Reports a version of a row to the streams that have not seen it. Zero: no row.
    func report(_ version: Int64, of account: AccountHash) {
        notify { state in
            let unaware = (state.streams[.changes]?[account] ?? [:]).filter { $0.value.seen != version }
            for number in unaware.keys { state.streams[.changes]?[account]?[number]?.seen = version }
            return Array(unaware.values)
        }
    }

    func reportRelease(of account: AccountHash) { notify { Array(($0.streams[.releases]?[account] ?? [:]).values) } }

    /// Reports a release to every stream: some may have been missed.
    func reportReleases() { notify { $0.subscribers(to: .releases) } }

    private func notify(_ choose: (inout State) -> [Subscriber]) {
        for subscriber in state.withLock({ choose(&$0) }) { subscriber.continuation.yield() }
    }

    /// Ends every stream.
    func finish() {
        let all = state.withLock { $0.subscribers(to: .changes) + $0.subscribers(to: .releases) }
        for subscriber in all { subscriber.continuation.finish() }
    }

    private func stream(_ kind: Kind, _ account: String, seen: Int64?) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscriber = Subscriber(account: account, continuation: continuation, seen: seen)
        let hash = AccountHash(account)
        let number = state.withLock { state in
            state.last += 1
            state.streams[kind, default: [:]][hash, default: [:]][state.last] = subscriber
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number, kind, hash) }
        return stream
    }

    private func remove(_ number: Int, _ kind: Kind, _ account: AccountHash) {
        state.withLock { state in
            state.streams[kind]?[account]?[number] = nil
            if state.streams[kind]?[account]?.isEmpty == true { state.streams[kind]?[account] = nil }
        }
    }
}
#endif
