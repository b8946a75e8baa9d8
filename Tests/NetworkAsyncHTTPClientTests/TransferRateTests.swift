#if AsyncHTTPClient
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkTestSupport
import NetworkTransfers
import TestSupport
import Testing

/// G25: a transfer has a minimum rate in place of a total deadline. Its clock advances second by second, when the
/// limits of the client and of the transport wait for it, and no further than the test lets it.
@Suite(.timeLimit(.minutes(20))) struct TransferRateTests {
    /// The time between two parts: less than the idle timeout.
    private static let pause = 20

    /// A clock that a test advances while a call is under way.
    private final class Steps: Sendable {
        let clock = ManualTimeSource()
        private let (ticks, tick) = AsyncStream<Void>.makeStream()
        private let (asked, advanced) = (Locked(0), Locked(0))
        private let hasEnded = Locked(false)

        /// - Parameter sleepers: How many limits wait for the clock while the call is under way.
        init(sleepers: Int) {
            let (ticks, clock, advanced) = (ticks, clock, advanced)
            Task {
                for await _ in ticks {
                    try await clock.advance(by: .seconds(1), whenAsleep: sleepers)
                    advanced.withLock { $0 += 1 }
                }
            }
        }

        var isOver: Bool { hasEnded.withLock { $0 } }
        func end() { hasEnded.withLock { $0 = true } }

        /// Lets the time between two parts pass.
        func pass() async throws {
            asked.withLock { $0 += pause }
            for _ in 0..<pause { tick.yield() }
            try await until { isOver || advanced.withLock { $0 } == asked.withLock { $0 } }
        }
    }

    private static func client(_ url: URL, _ steps: Steps) -> NetworkClient {
        NetworkClient(baseURL: url, transport: AsyncHTTPClientTransport(clock: steps.clock), clock: steps.clock)
    }

    private static func expectTooSlow(_ wait: NetworkError.Wait, _ call: Task<some Sendable, any Error>) async {
        let error = await networkError { try await call.value }
        #expect(error?.code == .timedOut && error?.waitedFor == wait)
        #expect(error?.reason?.contains("less than 4096 bytes in 1 min") == true)
    }

    @Test(arguments: [(1, false), (8_192, true)])
    func `an upload may take long, and not indefinitely`(part: Int, isFastEnough: Bool) async throws {
        let peer = try LoopbackPeer { connection in
            guard connection.readHead() != nil else { return }
            while let chunk = connection.readChunk(), !chunk.isEmpty {}
            connection.respond(body: Data("ok".utf8))
            connection.waitForClose()
        }
        defer { peer.stop() }
        // The transport's idle timeout, and the client's rate.
        let (steps, parts, sent) = (Steps(sleepers: 2), AsyncStream<Data>.makeStream(), Locked<Int64>(0))
        let call = Task {
            defer { steps.end() }
            var options = RequestOptions()
            options.progress = { progress in sent.withLock { $0 = progress.completed } }
            return try await Self.client(peer.url, steps).uploading(
                Endpoint.request(.put, "file", body: .oneShot(parts.stream)), options: options
            ).value
        }
        parts.continuation.yield(Data(count: part))
        try await until { steps.isOver || sent.withLock { $0 } == part }
        // Six minutes: six times the deadline of a call.
        for number in 2...18 where !steps.isOver {
            try await steps.pass()
            parts.continuation.yield(Data(count: part))
            try await until { steps.isOver || sent.withLock { $0 } == number * part }
        }
        #expect(steps.isOver == !isFastEnough)
        parts.continuation.finish()
        guard isFastEnough else { return await Self.expectTooSlow(.requestBody, call) }
        #expect(try await call.value.body == Data("ok".utf8))
    }

    @Test(arguments: [(1, false), (8_192, true)])
    func `a download may take long, and not indefinitely`(part: Int, isFastEnough: Bool) async throws {
        let count = 18
        let next = DispatchSemaphore(value: 1)
        let peer = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(count * part)\r\n\r\n")
            for _ in 0..<count {
                next.wait()
                guard connection.send(Data(count: part)) else { return }
            }
            connection.waitForClose()
        }
        let folder = TemporaryFolder()
        defer {
            for _ in 0..<count { next.signal() }
            peer.stop()
        }
        // The transport's idle timeout.
        let (steps, received) = (Steps(sleepers: 1), Locked<Int64>(0))
        let call = Task {
            defer { steps.end() }
            var options = DownloadOptions()
            (options.maximumResumptions, options.clock) = (0, steps.clock)
            return try await Self.client(peer.url, steps).download(
                "file", to: folder.url.appendingPathComponent("file"), options: options
            ) { progress in received.withLock { $0 = progress.completed } }
        }
        for number in 1..<count where !steps.isOver {
            try await until { steps.isOver || received.withLock { $0 } == number * part }
            try await steps.pass()
            next.signal()
        }
        guard isFastEnough else { return await Self.expectTooSlow(.responseBody, call) }
        #expect(try await call.value.size == Int64(count * part))
    }
}
#endif
