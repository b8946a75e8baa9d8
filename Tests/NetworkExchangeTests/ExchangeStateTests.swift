import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkExchange

/// The events of an exchange and what becomes of its waiters, which are numbers here.
@Suite("ExchangeState")
struct ExchangeStateTests {
    typealias State = ExchangeState<Int, Int, Int>

    static let head = HTTPResponseHead(status: 200)
    static let failure = HTTPTransportError(.connectionFailed, reason: "cut")

    /// The phases before the end, in order.
    enum Phase: CaseIterable {
        case new
        case queued
        case awaitingHead
        case headArrived
        case receiving
        case reading

        /// An exchange in this phase, which began at 0 s. Waiter 1 waits for the head, and 2 for a piece.
        var state: State {
            var state = State(startedAt: .zero)
            let order = Phase.allCases.prefix { $0 != self }
            for phase in order {
                switch phase {
                case .new: _ = state.queue(1)
                case .queued: _ = state.begin(at: .seconds(1))
                case .awaitingHead: _ = state.receive(head, at: .seconds(2))
                case .headArrived: _ = state.takeHead()
                case .receiving: _ = state.read(2, holdingAt: 100, at: .seconds(3))
                case .reading: break
                }
            }
            return state
        }
    }

    // MARK: Events in every phase

    @Test(arguments: Phase.allCases)
    func `each event counts in its phase only`(phase: Phase) {
        var state = phase.state
        #expect(state.queue(7) == (phase == .new))
        state = phase.state
        #expect(state.begin(at: .seconds(9)) == (phase == .queued))
        state = phase.state
        #expect(state.receive(Self.head, at: .seconds(9)) == (phase == .awaitingHead))
        state = phase.state
        #expect(state.takeHead()?.waiter == (phase == .headArrived ? 1 : nil))
        #expect(state.takeHead() == nil)
        #expect(phase.state.hasHead == [.headArrived, .receiving, .reading].contains(phase))
    }

    @Test(arguments: Phase.allCases, [true, false])
    func `the end hands out each waiter once, and nothing follows it`(phase: Phase, keepsUnread: Bool) throws {
        var state = phase.state
        #expect(state.wait(3, id: 1) == nil)
        #expect(state.wait(4, id: 2) == nil)
        #expect(state.withdraw(2) == 4)
        let end = state.end(.failure(Self.failure), keepsUnread: keepsUnread, at: .seconds(10))
        let ending = try #require(end)
        #expect(ending.head?.waiter == ([.queued, .awaitingHead, .headArrived].contains(phase) ? 1 : nil))
        let isDelivered = phase == .headArrived && keepsUnread
        #expect((try? ending.head?.result.get()) == (isDelivered ? Self.head : nil))
        #expect(ending.reader == (phase == .reading ? 2 : nil))
        #expect(ending.waiters == [3])
        #expect(ending.hasConnection == ![.new, .queued].contains(phase))
        #expect(ending.metrics.total == .seconds(10))
        #expect(throws: HTTPTransportError.self) { try ending.result.get() }

        #expect(state.isEnded)
        #expect(state.end(.success([:]), keepsUnread: true, at: .seconds(11)) == nil)
        #expect(!state.queue(1) && !state.begin(at: .seconds(11)) && !state.receive(Self.head, at: .seconds(11)))
        #expect(state.takeHead() == nil)
        #expect(!state.sent(5, at: .seconds(11)) && state.sent(more: 5, at: .seconds(11)) == nil)
        #expect(state.keep(Data("late".utf8), holdingAt: 100, at: .seconds(11)) == nil)
        #expect(throws: HTTPTransportError.self) { try state.wait(5, id: 3)?.get() }
    }

    // MARK: Reading

    /// What a reader gets: a piece, the end, its wait, or the code of an error.
    private func read(_ state: inout State, limit: Int = 100) -> String {
        switch state.read(2, holdingAt: limit, at: .seconds(5)) {
        case .waits: return "waits"
        case .reads(let result, let demands):
            do {
                return try result.get().map { String(decoding: $0, as: UTF8.self) + (demands ? " demands" : "") }
                    ?? "end"
            } catch {
                return (error as? HTTPTransportError)?.reason ?? "\((error as? HTTPBodyError)?.code as Any)"
            }
        }
    }

    private func receive(_ text: String, by state: inout State, limit: Int = 100) -> String {
        guard let kept = state.keep(Data(text.utf8), holdingAt: limit, at: .seconds(4)) else { return "dropped" }
        let delivery = state.deliver(holdingAt: limit, at: .seconds(4))
        #expect(kept.isDue == (delivery != nil))
        return delivery.map { "to \($0.waiter)" } ?? (kept.isHeld ? "held" : "kept")
    }

    @Test func `a piece goes to the reader that waits, and is kept where none does`() {
        var state = Phase.receiving.state
        #expect(receive("a", by: &state) == "kept")
        #expect(read(&state) == "a")
        #expect(read(&state) == "waits")
        #expect(receive("b", by: &state) == "to 2")
        #expect(receive("c", by: &state) == "kept")
        #expect(state.bytesReceived == 3)
    }

    @Test func `a second reader is refused, and the first one still waits`() {
        var state = Phase.reading.state
        guard case .reads(.failure(let error), demands: false) = state.read(9, holdingAt: 100, at: .seconds(5)) else {
            Issue.record("two readers wait")
            return
        }
        #expect((error as? HTTPBodyError)?.code == .alreadyRead)
        #expect(receive("a", by: &state) == "to 2")
    }

    @Test(arguments: [nil, "cut"])
    func `what arrived before the end is read before it`(failure: String?) {
        var state = Phase.receiving.state
        for text in ["a", "b"] { #expect(receive(text, by: &state) == "kept") }
        let result: Result<HTTPHeaders, any Error> = failure == nil ? .success([:]) : .failure(Self.failure)
        #expect(state.end(result, keepsUnread: true, at: .seconds(5)) != nil)
        #expect(["a", "b", failure ?? "end", failure ?? "end"].allSatisfy { read(&state) == $0 })
    }

    @Test func `what arrived before an end from this side is dropped`() {
        var state = Phase.receiving.state
        #expect(receive("a", by: &state) == "kept")
        #expect(state.end(.failure(Self.failure), keepsUnread: false, at: .seconds(5)) != nil)
        #expect(read(&state) == "cut")
    }

    @Test func `pieces that arrive together are kept for a reader that waits, and the first one is due once`() throws {
        var state = Phase.reading.state
        let first = state.keep(Data("aa".utf8), holdingAt: 4, at: .seconds(4))
        let second = state.keep(Data("bb".utf8), holdingAt: 4, at: .seconds(4))
        #expect(first?.isHeld == false && first?.isDue == true)
        #expect(second?.isHeld == true && second?.isDue == false)
        let delivery = state.deliver(holdingAt: 4, at: .seconds(5))
        #expect(delivery?.waiter == 2 && delivery?.piece == Data("aa".utf8))
        #expect(delivery?.demands == true, "the server goes on")
        #expect(state.deliver(holdingAt: 4, at: .seconds(5)) == nil)
        guard case .reads(let rest, _) = state.read(3, holdingAt: 4, at: .seconds(5)) else {
            Issue.record("a piece that has arrived is not read")
            return
        }
        #expect(try rest.get() == Data("bb".utf8))
        _ = state.end(.success([:]), keepsUnread: true, at: .seconds(6))
        #expect(state.keep(Data("late".utf8), holdingAt: 4, at: .seconds(7)) == nil)
    }

    @Test func `the server waits at the limit, until less than that is unread`() {
        var state = Phase.receiving.state
        #expect(receive("aa", by: &state, limit: 4) == "kept")
        #expect(receive("bb", by: &state, limit: 4) == "held")
        #expect(read(&state, limit: 4) == "aa demands")
        #expect(read(&state, limit: 4) == "bb")
        #expect(receive("cccc", by: &state, limit: 4) == "to 2" || read(&state, limit: 4) == "cccc demands")
    }

    // MARK: Metrics

    @Test func `metrics say when it had a connection, a head and its end`() throws {
        var state = Phase.awaitingHead.state
        let isFirst = state.receive(Self.head, protocolName: "h2", isConnectionReused: true, at: .seconds(4))
        let sent = state.sent(more: 3, at: .seconds(4))
        #expect(isFirst && sent == 3)
        let end = state.end(.success(["Checksum": "1"]), keepsUnread: true, at: .seconds(6))
        let ending = try #require(end)
        let metrics = ending.metrics
        #expect((metrics.queued, metrics.toHead, metrics.total) == (.seconds(1), .seconds(4), .seconds(6)))
        #expect(metrics.protocolName == "h2" && metrics.isConnectionReused == true && metrics.bytesSent == 3)
        #expect(try ending.result.get().trailers["Checksum"] == "1")
    }

    @Test func `progress is reported once for each number, and never decreases`() {
        var state = Phase.awaitingHead.state
        let isNews = ([0, 0, 4, 2, 4, 10, 0] as [Int64]).map { state.sent($0, at: .seconds(2)) }
        #expect(isNews == [true, false, true, false, false, true, false])
    }

    // MARK: Time limits

    /// When a limit is reached, and what the exchange waits for then.
    private struct Limit: Equatable {
        let seconds: Int
        let wait: NetworkError.Wait?

        init(_ seconds: Int, _ wait: NetworkError.Wait?) {
            self.seconds = seconds
            self.wait = wait
        }
    }

    /// The first limit of an exchange.
    private func limit(of state: State, idle: Int, toHead: Int? = nil, toEnd: Int? = nil) -> Limit? {
        let request = HTTPTransportRequest(
            head: HTTPRequestHead(url: baseURL), idleTimeout: .seconds(idle), timeToHead: toHead.map { .seconds($0) },
            timeToEnd: toEnd.map { .seconds($0) })
        guard let limit = state.limit(of: request) else { return nil }
        #expect(limit.error.code == .timedOut)
        return Limit(Int(limit.at.components.seconds), limit.error.waitedFor)
    }

    @Test func `no idle time counts while an exchange waits for a connection`() {
        #expect(limit(of: Phase.queued.state, idle: 5) == nil)
        #expect(limit(of: Phase.queued.state, idle: 5, toHead: 60) == Limit(60, .connection))
    }

    @Test func `the idle time counts from the last activity`() {
        var state = Phase.awaitingHead.state
        #expect(limit(of: state, idle: 5, toHead: 60) == Limit(6, .connection))
        state.touch(at: .seconds(10))
        #expect(limit(of: state, idle: 5, toHead: 60) == Limit(15, .connection))
        state.send(at: .seconds(20))
        #expect(limit(of: state, idle: 5, toHead: 60) == Limit(25, .responseHead))
        _ = state.sent(more: 1, at: .seconds(30))
        #expect(limit(of: state, idle: 5, toHead: 60)?.seconds == 35)
        _ = state.sent(1, at: .seconds(40))
        #expect(limit(of: state, idle: 5, toHead: 60)?.seconds == 45)
        _ = state.receive(Self.head, at: .seconds(50))
        #expect(limit(of: state, idle: 5, toHead: 60) == Limit(55, .responseBody))
    }

    @Test func `no idle time counts while the server waits for the reader`() {
        var state = Phase.receiving.state
        _ = state.keep(Data("ab".utf8), holdingAt: 2, at: .seconds(10))
        #expect(limit(of: state, idle: 5) == nil)
        #expect(limit(of: state, idle: 5, toEnd: 90)?.seconds == 90)
        _ = state.read(2, holdingAt: 2, at: .seconds(30))
        #expect(limit(of: state, idle: 5)?.seconds == 35)
    }

    @Test(arguments: [
        (Phase.queued, NetworkError.Wait.connection, 20), (.awaitingHead, .connection, 20),
        (.headArrived, .responseBody, 40), (.reading, .responseBody, 40),
    ])
    func `a longest time names what the exchange waits for`(phase: Phase, wait: NetworkError.Wait, seconds: Int) {
        #expect(limit(of: phase.state, idle: 500, toHead: 20, toEnd: 40) == Limit(seconds, wait))
    }

    @Test(arguments: [(2, NetworkError.Wait.responseHead), (19, .responseHead), (20, .connection), (21, .connection)])
    func `once a byte may be sent, the head is waited for`(seconds: Int, wait: NetworkError.Wait) {
        var state = Phase.awaitingHead.state
        state.send(at: .seconds(seconds))
        state.send(at: .seconds(seconds + 30))
        #expect(limit(of: state, idle: 500, toHead: 20) == Limit(20, wait) && state.isSent)
    }
}
