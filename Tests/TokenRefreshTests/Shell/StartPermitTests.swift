import AuthInterface
import ContractTesting
import Testing

/// G28: the right to start a call, as a handler and an engine use it.
@Suite struct StartPermitTests {
    private let clock = ManualTimeSource()

    private var permit: StartPermit { StartPermit(until: clock.uptime + .seconds(30), on: clock) }

    @Test func `a call is under way once its right was used or handed over, and before that it was not made`() {
        #expect(permit.withdraw() == .notMade)
        let adopted = permit
        #expect(adopted.handOver())
        adopted.adopt()
        #expect(adopted.withdraw() == .notMade)
        #expect(!adopted.start() && !adopted.handOver(), "for good")
        let started = permit
        started.adopt()
        #expect(started.start() && started.start(), "the head, and then the body")
        #expect(started.withdraw() == .made && !started.start())
        let handedOver = permit
        handedOver.adopt()
        #expect(handedOver.handOver() && handedOver.withdraw() == .made)
    }

    @Test func `a right that has ended starts nothing`() {
        let (permit, unused) = (permit, permit)
        permit.adopt()
        clock.advance(by: .milliseconds(29_999))
        #expect(permit.timeLeft == .milliseconds(1) && permit.start())
        clock.advance(by: .milliseconds(1))
        #expect(!permit.start() && !permit.handOver() && !permit.startOver())
        #expect(unused.timeLeft == .zero && unused.withdraw() == .notMade)
    }

    @Test func `G34: a call that has spent nothing starts over, and until then none was made`() {
        let over = permit
        #expect(over.handOver() && over.start(isUnsent: { true }) && over.startOver())
        #expect(over.withdraw() == .notMade)
        #expect(!over.startOver())
        let late = permit
        #expect(late.handOver() && late.start())
        clock.advance(by: .seconds(30))
        #expect(!late.startOver() && late.withdraw() == .made, "the first call stays the last one")
    }

    @Test func `a call that a library has not sent yet is one that can be cancelled`() {
        for isUnsent in [true, false] {
            let permit = permit
            permit.adopt()
            let mayStart = permit.start(isUnsent: { isUnsent })
            #expect(mayStart)
            #expect(permit.withdraw() == (isUnsent ? .unsent : .made))
            #expect(permit.withdraw() == .made, "once")
        }
    }
}
