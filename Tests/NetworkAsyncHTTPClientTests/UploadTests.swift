#if AsyncHTTPClient
import AsyncHTTPClient
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NIOCore
import NIOPosix
import TestSupport
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
        try await writer.gate.arrivals(atLeast: 4)
        // What is written, and what the sender has handed over since.
        #expect(writer.written.count <= 2 * 262_144)
        writer.gate.open()
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
        try await writer.gate.arrivals(atLeast: 5)
        if fails {
            writer.fails.withLock { $0 = true }
            writer.gate.open()
            #expect(await waiting.value == false)
        } else {
            queue.end()
        }
        #expect(await sending.value == false)
        #expect(await queue.add(Data("later".utf8)) == false)
        #expect(await queue.finish() == false)
        writer.gate.open()
        _ = await waiting.value
    }
}

/// Takes the parts of a body, and has written them, or fails to, when its gate opens.
private struct HeldWriter: Sendable {
    let gate = Gate()
    let parts = Recorder<Data>()
    let fails = Locked(false)

    var written: Data { Data(parts.values.joined()) }

    func queue() -> UploadQueue {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let writer = HTTPClient.Body.StreamWriter { [gate, parts, fails] part in
            guard case .byteBuffer(let buffer) = part else { return eventLoop.makeSucceededVoidFuture() }
            parts.record(Data(buffer.readableBytesView))
            return eventLoop.makeFutureWithTask {
                await gate.pass()
                if fails.withLock({ $0 }) { throw ChannelError.ioOnClosedChannel }
            }
        }
        return UploadQueue(writer)
    }
}
#endif
