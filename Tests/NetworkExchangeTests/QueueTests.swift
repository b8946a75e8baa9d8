import Testing

@testable import NetworkExchange

@Suite("Queue")
struct QueueTests {
    @Test func `a queue keeps its order through many additions and removals`() {
        var queue = Queue<Int>()
        var taken: [Int] = []
        for number in 0..<10_000 {
            queue.append(number)
            if number % 3 != 0, let next = queue.popFirst() { taken.append(next) }
        }
        while let next = queue.popFirst() { taken.append(next) }
        #expect(taken == Array(0..<10_000))
        #expect(queue.isEmpty)
    }
}
