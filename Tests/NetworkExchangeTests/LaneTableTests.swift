import TestSupport
import Testing

@testable import NetworkExchange

@Suite("Lanes and their table")
struct LaneTableTests {
    private typealias Table = LaneTable<Int, ExchangeLane>

    private func lane(_ number: Int, in table: inout Table) -> ExchangeLane {
        table.lane(for: number) { ExchangeLane(limit: 1) }
    }

    @Test func `exchanges with one origin share a lane`() {
        var table = Table()
        let (first, again, other) = (lane(1, in: &table), lane(1, in: &table), lane(2, in: &table))
        #expect(first === again && first !== other && table.count == 2)
    }

    @Test(arguments: [(10, 100_000), (2_000, 2_000)])
    func `any number of lanes may be in use and stay, and the others do not add up`(inUse: Int, all: Int) {
        var table = Table()
        let used = (0..<inUse).map { lane($0, in: &table) }
        for number in inUse..<all { _ = lane(number, in: &table) }
        #expect(table.count <= max(Table.keptLanes, inUse))
        for (number, lane) in used.enumerated() {
            let found = self.lane(number, in: &table)
            #expect(found === lane)
        }
    }

    @Test func `a lane in which an exchange waits is in use`() {
        var table = Table()
        weak var busy: ExchangeLane?
        do {
            let lane = lane(0, in: &table)
            busy = lane
            #expect(lane.acquire(for: self.visitor) {})
            #expect(!lane.acquire(for: lane) { withExtendedLifetime(lane) {} })
        }
        for number in 1..<1_000 { _ = lane(number, in: &table) }
        let found = lane(0, in: &table)
        #expect(found === busy)
    }

    private final class Visitor: Sendable {}
    private let visitor = Visitor()

    @Test func `exchanges are served in order, without those that were cancelled`() {
        let lane = ExchangeLane(limit: 2)
        let (visitors, served) = ((0..<6).map { _ in Visitor() }, Recorder<Int>())
        let hasRoom = visitors.indices.map { index in
            lane.acquire(for: visitors[index]) { served.record(index) }
        }
        #expect(hasRoom == [true, true, false, false, false, false])
        lane.cancel(visitors[3])
        lane.cancel(visitors[0])
        for _ in 0..<5 { lane.release() }
        #expect(served.values == [0, 1, 2, 4, 5])
        #expect(lane.acquire(for: visitors[0]) {} && lane.acquire(for: visitors[1]) {})
        #expect(!lane.acquire(for: visitors[2]) {})
    }
}
