import ConcurrencyPrimitives
import Foundation
import Testing

@testable import AuthInterface

@Suite("An activity that keeps the process running until it ends or expires", .timeLimit(.minutes(10)))
struct ExpiringActivityTests {
    @Test(arguments: [false, true])
    func `the system's block returns when the activity ends, or its token is deallocated, and not before`(
        isDeallocated: Bool
    ) async {
        let system = ScriptedSystem()
        var token: ExpiringActivityToken? = SystemExpiringActivity(perform: system.perform).begin("a refresh") {}
        #expect(system.reasons == ["a refresh"])
        let (returns, continuation) = AsyncStream.makeStream(of: String.self)
        system.call(isExpired: false) { continuation.yield("returned") }
        continuation.yield("still held")
        var events = returns.makeAsyncIterator()
        #expect(await events.next() == "still held")
        if !isDeallocated { token?.end() }
        if isDeallocated { token = nil }
        #expect(await events.next() == "returned")
        token?.end()
    }

    @Test func `expiry calls the closure once, also if the system never granted time`() {
        let system = ScriptedSystem()
        let calls = Locked(0)
        let token = SystemExpiringActivity(perform: system.perform).begin("a refresh") { calls.withLock { $0 += 1 } }
        #expect(calls.withLock { $0 } == 0)
        for _ in 1...2 {
            system.callHere(isExpired: true)
            #expect(calls.withLock { $0 } == 1)
        }
        token.end()
    }

    @Test func `the closure may end the activity, which lets the block return`() async {
        let system = ScriptedSystem()
        let token = Locked<ExpiringActivityToken?>(nil)
        let begun = SystemExpiringActivity(perform: system.perform).begin("a refresh") {
            token.withLock { $0 }?.end()
        }
        token.withLock { $0 = begun }
        let (returns, continuation) = AsyncStream.makeStream(of: Void.self)
        system.call(isExpired: false) { continuation.yield() }
        system.callHere(isExpired: true)
        for await _ in returns { break }
    }

    @Test func `an activity that has ended does not expire, and lets the block return at once`() {
        let system = ScriptedSystem()
        let token = SystemExpiringActivity(perform: system.perform).begin("a refresh") { Issue.record("it expired") }
        token.end()
        token.end()
        system.callHere(isExpired: false)
        system.callHere(isExpired: true)
    }

    @Test func `an activity does nothing if the system suspends no processes`() {
        let token = SystemExpiringActivity(perform: nil).begin("a refresh") { Issue.record("it expired") }
        token.end()
        SystemExpiringActivity().begin("a refresh") {}.end()
    }
}

/// A system that calls the block of an activity when a test does.
private final class ScriptedSystem: Sendable {
    private let blocks = Locked<[(reason: String, block: @Sendable (Bool) -> Void)]>([])

    var reasons: [String] { blocks.withLock { $0.map(\.reason) } }

    var perform: SystemExpiringActivity.Perform {
        { reason, block in self.blocks.withLock { $0.append((reason, block)) } }
    }

    func callHere(isExpired: Bool) {
        blocks.withLock { $0.last?.block }?(isExpired)
    }

    /// Calls the block on a thread of its own, which may be blocked.
    func call(isExpired: Bool, whenReturned: @escaping @Sendable () -> Void) {
        let block = blocks.withLock { $0.last?.block }
        Thread.detachNewThread {
            block?(isExpired)
            whenReturned()
        }
    }
}
