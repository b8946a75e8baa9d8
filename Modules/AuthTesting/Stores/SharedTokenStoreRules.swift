import AuthInterface
import ConcurrencyPrimitives
import ContractTesting

import struct Foundation.Date

enum SharedTokenStoreRules {
    /// Longer than the time limit of a rule, which ends the wait for a lease that does not become free.
    static let ample: Duration = .seconds(3_600)

    /// The wait for a lease that must not become free.
    private static let brief: Duration = .milliseconds(50)

    static let all = use + exclusion + waiting + guarding + updating + corruption + endings + reports

    private static let use: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("a free lease is taken immediately, with a limit of zero too") { subject in
            for _ in 1...3 { await (try await subject.mine.lease(waitingAtMost: .zero)).release() }
        },
        ContractRule("a store whose lease is held can be read and written without a lease") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await subject.theirs.save(.numbered(1))
            try await subject.theirs.delete()
            try await subject.mine.expectStored(nil, "after the delete of the other side")
            await lease.release()
        },
    ]

    private static let exclusion: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("G13: a lease has one holder at a time; a waiter gets `busy` after its limit") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            for (name, store) in subject.views {
                for limit in [.zero, brief] { try await expectBusy(store, waitingAtMost: limit, name) }
            }
            await lease.release()
        },
        ContractRule("read, change and save under a lease loses no change of another holder") { subject in
            try await subject.mine.save(.numbered(0))
            let wasLost = Locked(false)
            let refusal = Locked<(any Error)?>(nil)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...12 {
                    let store = number.isMultiple(of: 2) ? subject.mine : subject.theirs
                    group.addTask { try await advanceGeneration(of: store, by: number, wasLost, refusal) }
                }
                try await group.waitForAll()
            }
            let generation = try await subject.mine.load()?.generation ?? 0
            try expect(generation == 12, otherwise: "12 holders left generation \(generation)")
            if let error = refusal.withLock({ $0 }), !wasLost.withLock({ $0 }) { throw error }
        },
        ContractRule("a second release of a lease does not release the next holder's") { subject in
            let first = try await subject.mine.lease(waitingAtMost: ample)
            await first.release()
            await first.release()
            let second = try await subject.theirs.lease(waitingAtMost: ample)
            await first.release()
            try await expectBusy(subject.mine, waitingAtMost: .zero, "the third")
            await second.release()
        },
        ContractRule("after a release, the next holder sees that this process has no call in progress") { subject in
            for (name, store) in subject.views {
                let ended = try await subject.mine.lease(waitingAtMost: ample)
                await ended.release()
                let lease = try await store.lease(waitingAtMost: ample)
                let mayStillCall = lease.mayStillCall(intent(under: ended.identity))
                await lease.release()
                try expect(!mayStillCall, otherwise: "a lease of \(name) says that this process may still call")
            }
        },
        ContractRule("G13: an intent under a lease that is not known to have ended may be a call in progress") {
            subject in
            for (name, store) in subject.views {
                let lease = try await store.lease(waitingAtMost: ample)
                let mayStillCall = lease.mayStillCall(intent(under: "a lease that was never granted"))
                let isUnnamedOneEnded = lease.identity != nil && !lease.mayStillCall(intent(under: nil))
                await lease.release()
                try expect(mayStillCall, otherwise: "a lease of \(name) says that an unknown lease has ended")
                try expect(
                    !isUnnamedOneEnded, otherwise: "a lease of \(name) says that a lease without a name has ended")
            }
        },
    ]

    private static let waiting: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("a held lease is not lost while another process waits for it") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let wasLost = lease.isLost
            try await expectBusy(subject.theirs, waitingAtMost: brief, "the waiter")
            let isLost = lease.isLost
            await lease.release()
            try expect(!wasLost && !isLost, otherwise: "the lease says that it is lost")
        },
        ContractRule("after a release, a waiter gets the lease") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let waiter = Task { try await subject.theirs.lease(waitingAtMost: ample) }
            await Task.yield()
            await lease.release()
            let next = try await waiter.value
            try await subject.theirs.save(.numbered(1))
            await next.release()
        },
        ContractRule("a waiter whose limit has passed does not get the lease later") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await expectBusy(subject.theirs, waitingAtMost: brief, "the waiter")
            await lease.release()
            await (try await subject.mine.lease(waitingAtMost: ample)).release()
        },
        ContractRule("a cancelled waiter throws CancellationError and does not get the lease") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let waiter = Task { try await subject.theirs.lease(waitingAtMost: ample) }
            for _ in 1...10 { await Task.yield() }
            waiter.cancel()
            let error = await failure { _ = try await waiter.value }
            guard let error else { throw RuleBroken("it got the lease while another had it") }
            try expect(error is CancellationError, otherwise: "it threw \(error)")
            await lease.release()
            await (try await subject.mine.lease(waitingAtMost: ample)).release()
        },
    ]

    private static let guarding: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("G13: a saved bundle does not replace a later one of its session") { subject in
            let session = SessionID()
            let later = TokenBundle.numbered(2, session: session, generation: 2)
            try await subject.theirs.save(later)
            for (what, number, generation) in [("an earlier generation", 1, 1), ("the same generation anew", 3, 2)] {
                let bundle = TokenBundle.numbered(number, session: session, generation: generation)
                let error = await failure { try await subject.mine.save(bundle) }
                try await subject.mine.expectStored(later, "after a save of \(what)")
                try expect(error != nil, otherwise: "saving \(what) threw nothing")
            }
        },
        ContractRule("G17: no error of a store with a held lease shows a token, nor does the lease") { subject in
            let bundle = TokenBundle.numbered(1)
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await subject.mine.save(bundle)
            let error = await failure { _ = try await subject.theirs.lease(waitingAtMost: .zero) }
            if let error { try expectHidden(bundle.secrets, in: error) { "its \($0) shows a token" } }
            try expectHidden(bundle.secrets, in: lease) { "the \($0) of the lease shows a token" }
            await lease.release()
        },
    ]

    private static func intent(under lease: String?) -> RefreshIntent {
        RefreshIntent(idempotencyKey: "contract-key", owner: .newEngine(), date: Date(), lease: lease)
    }

    private static func expectBusy(
        _ store: any SharedTokenStore, waitingAtMost limit: Duration, _ name: String
    ) async throws {
        let error = await failure { await (try await store.lease(waitingAtMost: limit)).release() }
        guard let error else { throw RuleBroken("\(name) got a lease that was held") }
        let isBusy = (error as? TokenStoreError)?.code == .busy
        try expect(isBusy, otherwise: "\(name) failed with \(error) instead of busy")
    }

    /// Saves tokens of its own, so that a save is refused where another holder has stored that generation. Both had the
    /// lease then: it was lost, as a claim that is not renewed in time. A refused holder tries again.
    private static func advanceGeneration(
        of store: any SharedTokenStore, by holder: Int, _ wasLost: Locked<Bool>, _ refusal: Locked<(any Error)?>
    ) async throws {
        while true {
            let lease = try await store.lease(waitingAtMost: ample)
            guard let bundle = try await store.load() else { throw RuleBroken("a holder found no bundle") }
            await Task.yield()
            let next = TokenBundle.numbered(holder, session: bundle.session, generation: bundle.generation + 1)
            let error = await failure { try await store.save(next) }
            if lease.isLost { wasLost.withLock { $0 = true } }
            await lease.release()
            guard let error else { return }
            guard (error as? TokenStoreError)?.code == .superseded else { throw error }
            refusal.withLock { $0 = error }
        }
    }
}
