import AuthInterface

/// The rules of ``SharedTokenStoreContract``.
enum SharedTokenStoreRules {
    /// Long enough for any store to hand out what nobody has.
    private static let ample: Duration = .seconds(10)

    /// Short enough to wait for in vain.
    private static let brief: Duration = .milliseconds(50)

    static let all = use + exclusion + waiting + guarding

    private static let use: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("a free store is had at once, even by one who would not wait") { subject in
            for _ in 1...3 {
                let lease = try await subject.mine.lease(waitingAtMost: .zero)
                await lease.release()
            }
        },
        ContractRule("a held store can be read and written by those who do not ask for a lease") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await subject.theirs.save(.numbered(1))
            try await subject.theirs.delete()
            try await subject.mine.expectStored(nil, "after the other side's delete")
            await lease.release()
        },
    ]

    private static let exclusion: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("G13: one holder at a time; who has waited long enough is told so with `busy`") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            for (store, whose) in [(subject.theirs, "another store's"), (subject.mine, "the same store's")] {
                for limit in [.zero, brief] {
                    try await expectBusy(store, waitingAtMost: limit, whose)
                }
            }
            await lease.release()
        },
        ContractRule("read, change and save under a lease loses no change of another holder") { subject in
            let session = SessionID()
            try await subject.mine.save(.numbered(0, session: session))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    let store = number.isMultiple(of: 2) ? subject.mine : subject.theirs
                    group.addTask { try await advanceGeneration(of: store) }
                }
                try await group.waitForAll()
            }
            let generation = try await subject.mine.load()?.generation ?? 0
            try expect(generation == 12, otherwise: "12 holders left generation \(generation)")
        },
        ContractRule("a lease that was released twice does not let go of the next holder's") { subject in
            let first = try await subject.mine.lease(waitingAtMost: ample)
            await first.release()
            await first.release()
            let second = try await subject.theirs.lease(waitingAtMost: ample)
            await first.release()
            try await expectBusy(subject.mine, waitingAtMost: .zero, "a third")
            await second.release()
        },
    ]

    private static let waiting: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("a release lets the next one in") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let waiter = Task { try await subject.theirs.lease(waitingAtMost: ample) }
            await Task.yield()
            await lease.release()
            let next = try await waiter.value
            try await subject.theirs.save(.numbered(1))
            await next.release()
        },
        ContractRule("a waiter that gave up is not handed the store later") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await expectBusy(subject.theirs, waitingAtMost: brief, "the waiter's")
            await lease.release()
            await (try await subject.mine.lease(waitingAtMost: brief)).release()
        },
        ContractRule("a cancelled waiter throws CancellationError and does not take the store") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let waiter = Task { try await subject.theirs.lease(waitingAtMost: ample) }
            for _ in 1...10 { await Task.yield() }
            waiter.cancel()
            switch await waiter.result {
            case .success: throw RuleBroken("it was given the store while another had it")
            case .failure(let error):
                try expect(error is CancellationError, otherwise: "it threw \(error)")
            }
            await lease.release()
            await (try await subject.mine.lease(waitingAtMost: brief)).release()
        },
    ]

    private static let guarding: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("G13: a bundle does not replace a later one of its session") { subject in
            let session = SessionID()
            let later = TokenBundle.numbered(2, session: session, generation: 2)
            try await subject.theirs.save(later)
            for (what, number, generation) in [("an earlier generation", 1, 1), ("the same generation anew", 3, 2)] {
                let bundle = TokenBundle.numbered(number, session: session, generation: generation)
                let error = await failure { try await subject.mine.save(bundle) }
                try await subject.mine.expectStored(later, "after somebody saved \(what)")
                try expect(error != nil, otherwise: "saving \(what) threw nothing")
            }
        },
        ContractRule("G17: no error of a held store shows a token") { subject in
            let bundle = TokenBundle.numbered(1)
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            try await subject.mine.save(bundle)
            let error = await failure { _ = try await subject.theirs.lease(waitingAtMost: .zero) }
            if let view = error.flatMap({ leak(of: bundle, in: $0) }) { throw RuleBroken("its \(view) shows a token") }
            if let view = leak(of: bundle, in: lease) { throw RuleBroken("the \(view) of the lease shows a token") }
            await lease.release()
        },
    ]

    private static func expectBusy(
        _ store: any SharedTokenStore,
        waitingAtMost limit: Duration,
        _ whose: String
    ) async throws {
        do {
            let lease = try await store.lease(waitingAtMost: limit)
            await lease.release()
        } catch let error as TokenStoreError where error.code == .busy {
            return
        } catch {
            throw RuleBroken("\(whose) lease failed with \(error) instead of busy")
        }
        throw RuleBroken("\(whose) lease was given while the store was held")
    }

    private static func advanceGeneration(of store: any SharedTokenStore) async throws {
        let lease = try await store.lease(waitingAtMost: ample)
        guard let bundle = try await store.load() else { throw RuleBroken("a holder found none") }
        await Task.yield()
        let next = bundle.generation + 1
        try await store.save(.numbered(next, session: bundle.session, generation: next))
        await lease.release()
    }
}
