/// Sends elements to any number of streams.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Receivers {
        var byNumber: [Int: AsyncStream<Element>.Continuation] = [:]
        var last = 0
    }

    private let receivers = Locked(Receivers())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy

    /// Creates a broadcast without a stream.
    ///
    /// - Parameter policy: What each stream keeps of the elements that were not read yet. Default: the newest one.
    package init(keeping policy: AsyncStream<Element>.Continuation.BufferingPolicy = .bufferingNewest(1)) {
        self.policy = policy
    }

    deinit { finish() }

    /// Whether no stream is read.
    package var isEmpty: Bool { receivers.withLock { $0.byNumber.isEmpty } }

    /// Makes a stream of the elements that are sent from now on. It ends with the broadcast, and with its reader.
    ///
    /// - Parameters:
    ///   - first: What the stream starts with.
    ///   - owner: Lives as long as the stream. One that holds the broadcast keeps the stream from ending with it.
    /// - Returns: The stream. It has one reader.
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
