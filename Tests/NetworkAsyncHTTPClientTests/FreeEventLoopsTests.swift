#if AsyncHTTPClient
import NIOPosix
import Testing

@testable import NetworkAsyncHTTPClient

/// An exchange runs on the event loop of the connection that the pool will choose.
@Suite(.timeLimit(.minutes(10))) struct FreeEventLoopsTests {
    private let group = MultiThreadedEventLoopGroup.singleton

    @Test func `the latest event loop is taken first, each as often as it was added`() {
        let (free, one, other) = (FreeEventLoops(), group.next(), group.next())
        #expect(free.take() === nil)
        for eventLoop in [one, other, one] { free.add(eventLoop) }
        let taken = (0..<4).map { _ in free.take() }
        #expect(taken[0] === one && taken[1] === other && taken[2] === one && taken[3] === nil)
    }

    @Test func `no more than 64 event loops are kept`() {
        let free = FreeEventLoops()
        for _ in 0..<100 { free.add(group.next()) }
        var count = 0
        while free.take() != nil { count += 1 }
        #expect(count == 64)
    }
}
#endif
