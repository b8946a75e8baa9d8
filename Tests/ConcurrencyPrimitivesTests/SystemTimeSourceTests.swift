import ConcurrencyPrimitives
import Foundation
import Testing

@Suite struct SystemTimeSourceTests {
    @Test func `the system's clocks move forward, and a sleep until the past returns at once`() async throws {
        let clock = SystemTimeSource()
        let before = clock.uptime
        try await clock.sleep(until: before - .seconds(10))
        #expect(clock.uptime >= before)
        #expect(abs(clock.date.timeIntervalSinceNow) < 60)
    }
}
