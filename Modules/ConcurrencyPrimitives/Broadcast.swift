/// Sends elements to any number of streams.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Receivers {
        var byNumber: [Int: AsyncStream<Element>.Continuation] = [:]
        var last = 0
    }

    private let receivers = Locked(Receivers())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy

    /// Creates a broadcast without a stream. The policy says what a stream keeps of the elements that were not read
    /// yet.
    package init(keeping policy: AsyncStream<Element>.Continuation.BufferingPolicy = .bufferingNewest(1)) {
        self.policy = policy
    }

    deinit { finish() }

    /// Whether no stream is read.
    package var isEmpty: Bool { receivers.withLock { $0.byNumber.isEmpty } }

    /// Makes a stream of an element and those that are sent from now on. It has one reader, and ends with it or with
    /// the broadcast. The owner lives as long as the stream: one that holds the broadcast keeps the stream from ending
    /// with it.
    package func stream(
        startingWith first: Element? = nil, keeping owner: (any Sendable)? = nil
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        if let first { continuation.yield(first) }
        receivers.withLock { receivers in
            receivers.last += 1
            let number = receivers.last
            receivers.byNumber[number] = continuation
            continuation.onTermination = { [weak self] _ in
                withExtendedLifetime(owner) { self?.remove(number) }
            }
        }
        return stream
    }

    /// Sends an element to every stream. Elements that are sent one after the other arrive in this order.
    package func send(_ element: Element) {
        for continuation in receivers.withLock({ Array($0.byNumber.values) }) { continuation.yield(element) }
    }

    /// Ends every stream.
    package func finish() {
        for continuation in receivers.withLock({ Array($0.byNumber.values) }) { continuation.finish() }
    }

    private func remove(_ number: Int) {
        // What the stream has kept is released outside the lock.
        _ = receivers.withLock { $0.byNumber.removeValue(forKey: number) }
    }
}
