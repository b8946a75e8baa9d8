import Testing

@testable import NetworkCore

@Suite("RetryBudget")
struct RetryBudgetTests {
    let budget = RetryBudget(capacity: 2, earnedPerCall: 0.25, earnedPerSecond: 0.1)

    func isExhausted(at uptime: Duration = .zero) -> Bool { !budget.withdraw(at: uptime) }

    @Test func startsFullAndRunsDry() {
        #expect(!isExhausted())
        #expect(!isExhausted())
        #expect(isExhausted())
    }

    @Test func callsEarnRetries() {
        while budget.withdraw(at: .zero) {}
        for _ in 0..<3 { budget.deposit(at: .zero) }
        #expect(isExhausted())
        budget.deposit(at: .zero)
        #expect(!isExhausted())
        #expect(isExhausted())
    }

    @Test func timeEarnsRetriesForAQuietClient() {
        while budget.withdraw(at: .zero) {}
        #expect(isExhausted(at: .seconds(9)))
        #expect(!isExhausted(at: .seconds(11)))
        #expect(isExhausted(at: .seconds(11)))
    }

    @Test func savesNoMoreThanItHolds() {
        for _ in 0..<100 { budget.deposit(at: .seconds(1_000_000)) }
        #expect(!isExhausted(at: .seconds(1_000_000)))
        #expect(!isExhausted(at: .seconds(1_000_000)))
        #expect(isExhausted(at: .seconds(1_000_000)))
    }
}
