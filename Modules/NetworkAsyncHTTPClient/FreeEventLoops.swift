#if AsyncHTTPClient
import ConcurrencyPrimitives
import NIOCore

/// The event loops of the connections that are free, the latest last: AsyncHTTPClient's pool takes the latest one too.
///
/// AsyncHTTPClient calls a delegate on the event loop of the task, which it chooses before it chooses a connection.
/// Where the two differ, each part of a response wakes a second thread, which costs more than reading it.
final class FreeEventLoops: Sendable {
    /// More free connections than these start on any event loop.
    private static let limit = 64

    private let eventLoops = Locked<[any EventLoop]>([])

    func take() -> (any EventLoop)? {
        eventLoops.withLock { $0.popLast() }
    }

    func add(_ eventLoop: any EventLoop) {
        eventLoops.withLock { eventLoops in
            if eventLoops.count < Self.limit { eventLoops.append(eventLoop) }
        }
    }
}
#endif
