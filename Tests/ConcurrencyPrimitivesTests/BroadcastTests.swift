import ConcurrencyPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct BroadcastTests {
    private final class Owner: Sendable {
        let broadcast = Broadcast<Int>()
    }

    @Test func `a stream keeps the newest element that was not read`() async {
        let broadcast = Broadcast<Int>()
        let streams = [broadcast.stream(), broadcast.stream(startingWith: 0)]
        for element in 1...3 { broadcast.send(element) }
        broadcast.finish()
        for stream in streams { #expect(await Self.elements(of: stream) == [3]) }
    }

    @Test func `a stream that keeps everything has the elements from its start on, in order`() async {
        let broadcast = Broadcast<Int>(keeping: .unbounded)
        broadcast.send(-1)
        let stream = broadcast.stream(startingWith: 0)
        for element in 1...100 { broadcast.send(element) }
        broadcast.finish()
        #expect(await Self.elements(of: stream) == Array(0...100))
    }

    @Test func `a stream that is not read any more is not kept`() {
        let broadcast = Broadcast<Int>()
        do {
            let stream = broadcast.stream()
            withExtendedLifetime(stream) { #expect(!broadcast.isEmpty) }
        }
        #expect(broadcast.isEmpty)
    }

    @Test func `streams end with the broadcast`() async {
        #expect(await Self.elements(of: Broadcast<Int>().stream(startingWith: 1)) == [1])
    }

    @Test func `an owner lives as long as the stream`() {
        weak var owner: Owner?
        do {
            let stream: AsyncStream<Int>
            do {
                let made = Owner()
                owner = made
                stream = made.broadcast.stream(keeping: made)
            }
            withExtendedLifetime(stream) { #expect(owner != nil) }
        }
        #expect(owner == nil)
    }

    private static func elements(of stream: AsyncStream<Int>) async -> [Int] {
        await stream.reduce(into: []) { $0.append($1) }
    }
}
