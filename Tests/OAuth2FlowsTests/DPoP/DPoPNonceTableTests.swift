import AuthInterface
import Foundation
import Testing

@testable import OAuth2Flows

@Suite("G34: the nonces of servers") struct DPoPNonceTableTests {
    private let server = "https://server.example"
    private let other = "https://api.example"
    private let key = "thumbprint"
    private let limit = Duration.seconds(240)

    private func at(_ seconds: Double, clock: Double = 0) -> DPoPNonceTable.Moment {
        .init(uptime: .seconds(1_000 + seconds), date: Date(timeIntervalSince1970: 1_800_000_000 + seconds + clock))
    }

    @Test func `the last response wins, for each server and each key`() {
        var table = DPoPNonceTable()
        table.note("n1", serverDate: nil, of: server, key, at: at(0))
        table.note("m1", serverDate: nil, of: other, key, at: at(1))
        table.note("n2", serverDate: nil, of: server, key, at: at(2))
        table.note("x", serverDate: nil, of: server, "another", at: at(3))
        table.note(nil, serverDate: nil, of: server, key, at: at(4))
        #expect(table.nonce(of: server, key) == "n2", "a response without a nonce changes none")
        #expect(table.nonce(of: other, key) == "m1")
        #expect(table.nonce(of: server, "another") == "x")
        table.forget(key)
        #expect(table.nonce(of: server, key) == nil && table.nonce(of: server, "another") == "x")
    }

    @Test
    func `a nonce is fetched where none is known or the last is older than the limit, and not where none is wanted`() {
        var table = DPoPNonceTable()
        #expect(table.needsNonce(of: server, key, limit: limit, at: at(0)))
        table.note(nil, serverDate: nil, of: server, key, at: at(0))
        #expect(!table.needsNonce(of: server, key, limit: limit, at: at(9_000)), "it wants none")
        table.note("n1", serverDate: nil, of: server, key, at: at(10))
        #expect(!table.needsNonce(of: server, key, limit: limit, at: at(249)))
        #expect(table.needsNonce(of: server, key, limit: limit, at: at(250)))
        #expect(!table.needsNonce(of: server, key, limit: limit, at: at(249, clock: 5_000)), "a clock that is set")
        #expect(table.needsNonce(of: other, key, limit: limit, at: at(11)))
    }

    @Test func `what is no nonce is ignored (§8.1)`() {
        var table = DPoPNonceTable()
        let long = String(repeating: "n", count: DPoPNonceTable.longestNonce)
        for text in ["", "a b", "a\"b", "a\\b", "é", "a\u{7F}", long + "n"] {
            table.note(text, serverDate: nil, of: server, key, at: at(0))
            #expect(table.nonce(of: server, key) == nil, "\(text.prefix(9))")
        }
        table.note(long, serverDate: nil, of: server, key, at: at(0))
        #expect(table.nonce(of: server, key) == long)
    }

    @Test func `G19: a response that was slow, or lay in the socket, sets no clock that is known`() {
        var table = DPoPNonceTable()
        func note(_ skew: TimeInterval, sent: Double, at received: Double, to table: inout DPoPNonceTable) {
            table.note(
                "n\(received)", serverDate: at(sent, clock: skew).date, of: server, key, sentAt: at(sent).uptime,
                at: at(received))
        }
        note(-3_600, sent: 0, at: 5, to: &table)
        #expect(table.serverDate(of: server, key, at: at(5)) == at(0, clock: -3_600).date)
        note(-3_600, sent: 10, at: 610, to: &table)
        #expect(table.serverDate(of: server, key, at: at(610)) == at(605, clock: -3_600).date)
        #expect(table.nonce(of: server, key) == "n610.0", "its nonce is the newest")
        var restored = DPoPNonceTable()
        restored.restore(table.binding(key, at: at(610)), at: at(610))
        note(0, sent: 620, at: 1_220, to: &restored)
        #expect(abs(restored.serverDate(of: server, key, at: at(1_220)).timeIntervalSince(at(1_215).date) + 3_600) < 1)
        var empty = DPoPNonceTable()
        note(-3_600, sent: 0, at: 600, to: &empty)
        #expect(empty.serverDate(of: server, key, at: at(600)) == at(0, clock: -3_600).date, "better than none")
    }

    @Test func `G19: the time is the server's, however the user sets the clock`() {
        var table = DPoPNonceTable()
        #expect(table.serverDate(of: server, key, at: at(0)) == at(0).date)
        table.note(nil, serverDate: at(0, clock: -3_600).date, of: server, key, at: at(0))
        #expect(table.serverDate(of: server, key, at: at(60)) == at(60, clock: -3_600).date)
        #expect(table.serverDate(of: server, key, at: at(60, clock: 86_400)) == at(60, clock: -3_600).date)
        #expect(table.serverDate(of: other, key, at: at(60)) == at(60).date, "each server has its clock")
    }

    @Test func `what is stored is used by the next process, until it is too old`() throws {
        var table = DPoPNonceTable()
        table.note("n1", serverDate: at(0, clock: 90).date, of: server, key, at: at(0))
        table.note(nil, serverDate: nil, of: other, key, at: at(0))
        let stored = try JSONDecoder().decode(
            TokenBinding.self, from: JSONEncoder().encode(table.binding(key, at: at(5))))
        #expect(stored == table.binding(key, at: at(5)))

        // Its uptime has another origin.
        func later(_ seconds: Double) -> DPoPNonceTable.Moment { .init(uptime: .seconds(3), date: at(seconds).date) }
        var next = DPoPNonceTable()
        next.restore(stored, at: later(6))
        #expect(next.nonce(of: server, key) == "n1")
        #expect(!next.needsNonce(of: server, key, limit: limit, at: later(239)))
        #expect(next.needsNonce(of: server, key, limit: limit, at: later(240)))
        #expect(next.needsNonce(of: server, key, limit: limit, at: later(-1)), "a clock that was set back")
        #expect(!next.needsNonce(of: other, key, limit: limit, at: later(99_999)), "it wants none")
        #expect(next.serverDate(of: server, key, at: later(60)) == at(60, clock: 90).date)

        next.note("n2", serverDate: nil, of: server, key, at: later(10))
        next.restore(stored, at: later(11))
        #expect(next.nonce(of: server, key) == "n2", "what this process has received is newer")
    }

    @Test func `a nonce that another process has received since takes the place of the own one`() {
        var table = DPoPNonceTable()
        table.note("n1", serverDate: at(0, clock: -60).date, of: server, key, at: at(0))
        func restore(_ value: String?, receivedAt date: Double) {
            let nonce = ProofNonce(value: value, date: at(date).date)
            table.restore(TokenBinding(thumbprint: key, nonces: [server: nonce]), at: at(200))
        }
        restore(nil, receivedAt: 150)
        restore("n3", receivedAt: 201)
        #expect(table.nonce(of: server, key) == "n1", "none, and one of a clock that was set back")
        restore("n2", receivedAt: 199)
        #expect(table.nonce(of: server, key) == "n2")
        #expect(!table.needsNonce(of: server, key, limit: limit, at: at(438)))
        #expect(table.needsNonce(of: server, key, limit: limit, at: at(439)))
        #expect(table.serverDate(of: server, key, at: at(200)) == at(200, clock: -60).date)
    }

    @Test func `G26: a stored date or clock that no server can have is ignored, and crashes no process`() async throws {
        let now = at(0)
        for seconds in [1e300, -1e300, .infinity, .nan, -1] {
            let dated = ProofNonce(value: "n1", date: Date(timeIntervalSince1970: seconds))
            let skewed = ProofNonce(value: "n1", date: now.date, clockSkew: seconds * 1e12)
            for nonce in [dated, skewed] {
                var table = DPoPNonceTable()
                table.restore(TokenBinding(thumbprint: key, nonces: [server: nonce]), at: now)
                #expect(table.nonce(of: server, key) == nil)
                #expect(table.needsNonce(of: server, key, limit: limit, at: now))
                #expect(table.serverDate(of: server, key, at: now) == now.date)
            }
        }
    }

    @Test func `nonces of a limited number of keys and servers are kept`() {
        var table = DPoPNonceTable()
        for number in 0...DPoPNonceTable.maximumKeys {
            table.note("n", serverDate: nil, of: server, "\(number)", at: at(0))
        }
        let kept = (0...DPoPNonceTable.maximumKeys).filter { table.nonce(of: server, "\($0)") != nil }
        #expect(kept.count == DPoPNonceTable.maximumKeys && kept.last == DPoPNonceTable.maximumKeys)
        for number in 0...DPoPNonceTable.maximumServers {
            table.note("n\(number)", serverDate: nil, of: "https://\(number).example", key, at: at(Double(number)))
        }
        #expect(table.nonce(of: "https://0.example", key) == nil && table.nonce(of: "https://1.example", key) == "n1")
        #expect(table.binding(key, at: at(99)).nonces.count == DPoPNonceTable.maximumServers)
    }
}
