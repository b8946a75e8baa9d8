import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkExchange

/// The shell of an exchange, over a driver that does what the test says.
@Suite("Exchange", .timeLimit(.minutes(10)))
struct ExchangeTests {
    private let clock = ManualTimeSource()
    private let driver = Driver()
    private let lane = ExchangeLane(limit: 1)
    private let events = Recorder<HTTPTransportEvent.Kind>()
    private let queued = Gate()

    /// What an exchange asks of its driver, in order.
    private final class Driver: ExchangeDriver {
        let calls = Recorder<String>()
        let started = Gate()

        func start() {
            calls.record("start")
            started.open()
        }

        func demand() { calls.record("demand") }
        func end(_ error: (any Error)?) { calls.record(error.map { "end \(type(of: $0))" } ?? "end") }
    }

    /// Calls the hook of its task whenever it is read.
    private struct HookedTimeSource: TimeSource {
        @TaskLocal static var hook: (@Sendable () -> Void)?

        let clock: ManualTimeSource

        var date: Date { clock.date }

        var uptime: Duration {
            if let hook = Self.hook { Self.$hook.withValue(nil) { hook() } }
            return clock.uptime
        }

        func sleep(until deadline: Duration) async throws { try await clock.sleep(until: deadline) }
    }

    private func exchange(
        over clock: (any TimeSource)? = nil, idle: Int = 500, toHead: Int? = nil, unreadLimit: Int = 1_000
    ) throws -> Exchange {
        let request = HTTPTransportRequest(
            head: HTTPRequestHead(url: baseURL), idleTimeout: .seconds(idle), timeToHead: toHead.map { .seconds($0) }
        ) { [events, queued] event in
            events.record(event.kind)
            if event.kind == .queued { queued.open() }
        }
        let deadlines = DeadlineQueue(clock: clock ?? self.clock, grace: .zero)
        return Exchange(request, deadlines: deadlines, unreadLimit: unreadLimit)
    }

    private func response(of exchange: Exchange) -> Task<HTTPTransportResponse, any Error> {
        Task { [driver, lane] in try await exchange.response(from: driver, through: lane) }
    }

    /// An exchange whose driver has started.
    private func startedExchange(
        idle: Int = 500, unreadLimit: Int = 1_000
    ) async throws -> (Exchange, Task<HTTPTransportResponse, any Error>) {
        let exchange = try exchange(idle: idle, unreadLimit: unreadLimit)
        let task = response(of: exchange)
        try await driver.started.passUnlessCancelled()
        return (exchange, task)
    }

    /// An exchange that waits for a place, because another one has it.
    private func queuedExchange(
        over clock: (any TimeSource)? = nil, idle: Int = 500, toHead: Int? = nil
    ) async throws -> (Exchange, Task<HTTPTransportResponse, any Error>) {
        #expect(lane.acquire(for: self.clock) {})
        let exchange = try exchange(over: clock, idle: idle, toHead: toHead)
        let task = response(of: exchange)
        try await queued.passUnlessCancelled()
        return (exchange, task)
    }

    /// An exchange that has begun, and its response.
    private func begun(unreadLimit: Int = 1_000) async throws -> (Exchange, HTTPTransportResponse) {
        let (exchange, task) = try await startedExchange(unreadLimit: unreadLimit)
        exchange.receive(HTTPResponseHead(status: 200))
        exchange.deliverHead()
        return (exchange, try await task.value)
    }

    @Test func `a response is delivered in order, and its metrics last`() async throws {
        let (exchange, task) = try await startedExchange()
        exchange.markSending()
        #expect(exchange.receive(HTTPResponseHead(status: 200)))
        #expect(!exchange.receive(Data("ab".utf8)))
        exchange.deliverHead()
        let response = try await task.value
        exchange.end(.success(["Checksum": "1"]))
        exchange.end(.failure(CancellationError()))
        exchange.cancel(CancellationError())
        #expect(response.head.status == 200)
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
        #expect(try await response.completion().trailers["Checksum"] == "1")
        #expect(driver.calls.values == ["start", "end"])
        #expect(events.values == [.received, .received, .metrics])
    }

    @Test func `an exchange waits for a place in its lane, and leaves it at its end`() async throws {
        let (first, firstTask) = try await startedExchange()
        let (second, waiting) = (try exchange(), Driver())
        let secondTask = Task { [lane] in try await second.response(from: waiting, through: lane) }
        try await queued.passUnlessCancelled()
        #expect(waiting.calls.values.isEmpty)
        first.cancel(CancellationError())
        try await waiting.started.passUnlessCancelled()
        second.cancel(CancellationError())
        await #expect(throws: CancellationError.self) { try await firstTask.value }
        await #expect(throws: CancellationError.self) { try await secondTask.value }
        #expect(lane.acquire(for: clock) {})
    }

    @Test func `a caller that is cancelled while it waits for a place takes none`() async throws {
        let (_, task) = try await queuedExchange()
        await expectCancellation(of: task)
        let served = Recorder<String>()
        #expect(!lane.acquire(for: driver) { served.record("next") })
        lane.release()
        #expect(served.values == ["next"])
        #expect(driver.calls.values == ["end CancellationError"])
    }

    @Test func `an exchange that ends as it gets its place leaves it to the next one`() async throws {
        let (exchange, task) = try await queuedExchange(over: HookedTimeSource(clock: clock))
        // Between the turn and the start, the exchange reads the clock.
        HookedTimeSource.$hook.withValue({ exchange.cancel(CancellationError()) }) { lane.release() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(driver.calls.values == ["end CancellationError"])
        #expect(lane.acquire(for: clock) {})
    }

    @Test func `a body that is released ends the exchange`() async throws {
        let exchange = try exchange()
        let status = Task { [driver, lane] in try await exchange.response(from: driver, through: lane).head.status }
        try await driver.started.passUnlessCancelled()
        exchange.receive(HTTPResponseHead(status: 200))
        exchange.deliverHead()
        #expect(try await status.value == 200)
        #expect(driver.calls.values == ["start", "end CancellationError"])
    }

    @Test func `the server waits at the limit, and goes on when the reader has read`() async throws {
        let (exchange, response) = try await begun(unreadLimit: 2)
        #expect(exchange.receive(Data("ab".utf8)))
        var pieces = response.body.makeAsyncIterator()
        #expect(try await pieces.next() == Data("ab".utf8))
        #expect(driver.calls.values == ["start", "demand"])
        // No limit counted while the server waited; the next one does.
        try await clock.advance(by: .seconds(501), whenAsleep: 1)
        await #expect(throws: HTTPTransportError.self) { try await pieces.next() }
        #expect(driver.calls.values == ["start", "demand", "end HTTPTransportError"])
    }

    @Test func `a reader that waits is resumed once for what arrives together, and before the end`() async throws {
        let (exchange, response) = try await begun()
        let reading = Task {
            var pieces: [Data] = []
            for try await piece in response.body { pieces.append(piece) }
            return pieces
        }
        let due = Recorder<String>()
        try await until {
            _ = exchange.receive(Data("a".utf8)) { _ in due.record("a") }
            return !due.values.isEmpty
        }
        _ = exchange.receive(Data("b".utf8)) { _ in due.record("b") }
        exchange.end()
        #expect(try await reading.value.last == Data("b".utf8))
        #expect(due.values == ["a"])
    }

    @Test func `the wait for a place is watched, and is no idle time`() async throws {
        let (_, task) = try await queuedExchange(idle: 5, toHead: 60)
        // The watch of the wait has the idle time of a later start. Nothing ends there.
        try await clock.advance(by: .seconds(5), whenAsleep: 1)
        try await clock.sleepers(atLeast: 1)
        #expect(driver.calls.values.isEmpty)
        lane.release()
        try await driver.started.passUnlessCancelled()
        try await clock.advance(by: .seconds(5), whenAsleep: 1)
        let error = await #expect(throws: HTTPTransportError.self) { try await task.value }
        #expect(error?.code == .timedOut && error?.waitedFor == .connection)
    }

    @Test func `activity prolongs the idle time`() async throws {
        let (exchange, task) = try await startedExchange(idle: 5)
        try await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(4))
        exchange.touch()
        clock.advance(by: .seconds(1))
        let race = Turn<String>()
        let watches = [
            Task { [clock] in
                guard (try? await clock.sleepers(atLeast: 1)) != nil else { return }
                race.end(.success("waits on"))
            },
            Task {
                _ = await task.result
                race.end(.success("ended"))
            },
        ]
        #expect(try await race.valueUnlessCancelled() == "waits on")
        for watch in watches { watch.cancel() }
        clock.advance(by: .seconds(4))
        let error = await #expect(throws: HTTPTransportError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test func `a caller that waits for the end can be cancelled, and others wait on`() async throws {
        let (exchange, response) = try await begun()
        let (leaver, other) = (Task { try await response.completion() }, Task { try await response.completion() })
        await expectCancellation(of: leaver)
        exchange.end(.failure(HTTPTransportError(.connectionFailed, reason: "cut")))
        await #expect(throws: HTTPTransportError.self) { try await other.value }
    }

    @Test func `a sequence that fails is named by the type of its error only`() {
        struct Mishap: Error, CustomStringConvertible { let description = "canary" }
        let error = HTTPTransportError(sending: Mishap())
        #expect(error.code == .encodingFailed && error.reason == "the body's sequence failed (Mishap)")
    }
}
