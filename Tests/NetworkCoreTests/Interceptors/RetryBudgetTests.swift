import Testing

@testable import NetworkCore

@Suite("RetryBudget")
struct RetryBudgetTests {
    let budget = RetryBudget(capacity: 2, earnedPerCall: 0.25, earnedPerSecond: 0.1)

    func isExhausted(at uptime: Duration = .zero) -> Bool { !budget.withdraw(at: uptime) }

    @Test func `a budget starts full and can be exhausted`() {
        #expect(!isExhausted())
        #expect(!isExhausted())
        #expect(isExhausted())
    }

    @Test func `calls add retries`() {
        while budget.withdraw(at: .zero) {}
        for _ in 0..<3 { budget.deposit(at: .zero) }
        #expect(isExhausted())
        budget.deposit(at: .zero)
        #expect(!isExhausted())
        #expect(isExhausted())
    }

    @Test func `time adds retries for a client with few calls`() {
        while budget.withdraw(at: .zero) {}
        #expect(isExhausted(at: .seconds(9)))
        #expect(!isExhausted(at: .seconds(11)))
        #expect(isExhausted(at: .seconds(11)))
    }

    @Test func `a budget saves no more than its capacity`() {
        for _ in 0..<100 { budget.deposit(at: .seconds(1_000_000)) }
        #expect(!isExhausted(at: .seconds(1_000_000)))
        #expect(!isExhausted(at: .seconds(1_000_000)))
        #expect(isExhausted(at: .seconds(1_000_000)))
    }
}
