#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import NetworkAsyncHTTPClient

/// The bytes of a body on their way to the connection.
@Suite(.timeLimit(.minutes(20))) struct UploadTests {
    private let writer = HeldWriter()

    private static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 1_000) }) }

    @Test func `a large piece is taken little by little, and the sender waits meanwhile`() async throws {
        let queue = writer.queue()
        let body = Self.bytes(3_000_000)
        let sending = Task { await queue.add(body) ? await queue.finish() : false }
        await writer.parts(atLeast: 4)
        // What is written, and what the sender has handed over since.
        #expect(writer.written.count <= 2 * 262_144)
        writer.letWrite()
        #expect(await sending.value)
        #expect(writer.written == body)
    }

    @Test(arguments: [true, false])
    func `a sender does not wait for an exchange that has ended, or for a write that fails`(fails: Bool) async throws {
        let queue = writer.queue()
        let sending = Task { await queue.add(Self.bytes(3_000_000)) }
        let waiting = Task {
            let other = writer.queue()
            return await other.add(Data("x".utf8)) ? await other.finish() : true
        }
        await writer.parts(atLeast: 5)
        if fails {
            writer.fail()
            #expect(await waiting.value == false)
        } else {
            queue.end()
        }
        #expect(await sending.value == false)
        #expect(await queue.add(Data("later".utf8)) == false)
        #expect(await queue.finish() == false)
        if !fails { writer.letWrite() }
        _ = await waiting.value
    }
}

/// Takes the parts of a body, and has written them when it is told.
private final class HeldWriter: Sendable {
    private struct State {
        var parts: [ByteBuffer] = []
        var promises: [EventLoopPromise<Void>] = []
        var isFree = false
    }

    private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let state = Locked(State())
    private let arrivals = AsyncStream<Void>.makeStream()

    func queue() -> UploadQueue {
        let writer = HTTPClient.Body.StreamWriter { [self] part in
            guard case .byteBuffer(let buffer) = part else { return eventLoop.makeSucceededVoidFuture() }
            let promise = eventLoop.makePromise(of: Void.self)
            let isFree = state.withLock { state in
                state.parts.append(buffer)
                if !state.isFree { state.promises.append(promise) }
                return state.isFree
            }
            arrivals.continuation.yield()
            if isFree { promise.succeed() }
            return promise.futureResult
        }
        return UploadQueue(writer)
    }

    var sizes: [Int] { state.withLock { $0.parts.map(\.readableBytes) } }

    var written: Data {
        state.withLock { $0.parts.reduce(into: Data()) { $0.append(contentsOf: $1.readableBytesView) } }
    }

    /// Waits for so many parts, once.
    func parts(atLeast count: Int) async {
        for await _ in arrivals.stream where sizes.count >= count { return }
    }

    func letWrite() { release { $0.succeed() } }

    func fail() { release { $0.fail(ChannelError.ioOnClosedChannel) } }

    private func release(_ end: (EventLoopPromise<Void>) -> Void) {
        let promises = state.withLock { state in
            state.isFree = true
            defer { state.promises = [] }
            return state.promises
        }
        for promise in promises { end(promise) }
    }
}
#endif
