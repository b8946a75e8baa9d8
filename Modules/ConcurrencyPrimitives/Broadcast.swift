/// Sends elements to any number of streams. Each stream keeps the newest element that was not read yet.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Receivers {
        var byNumber: [Int: AsyncStream<Element>.Continuation] = [:]
        var last = 0
    }

    private let receivers = Locked(Receivers())

    package init() {}

    deinit { finish() }

    /// Makes a stream of the elements that are sent from now on. It ends with the broadcast.
    package func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let number = receivers.withLock { receivers in
            receivers.last += 1
            receivers.byNumber[receivers.last] = continuation
            return receivers.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.receivers.withLock { _ = $0.byNumber.removeValue(forKey: number) }
        }
        return stream
    }

    /// Sends an element to every stream.
    package func send(_ element: Element) {
        for continuation in receivers.withLock({ Array($0.byNumber.values) }) { continuation.yield(element) }
    }

    /// Ends every stream.
    package func finish() {
        for continuation in receivers.withLock({ Array($0.byNumber.values) }) { continuation.finish() }
    }
}
