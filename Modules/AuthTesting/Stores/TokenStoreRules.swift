import AuthInterface
import ContractTesting

enum TokenStoreRules {
    static let all = reading + writing + concurrency + storage

    private static let reading: [ContractRule<StoreUnderTest>] = [
        ContractRule("an empty store returns no bundle") { subject in
            try await subject.store.expectStored(nil, "before any save")
        },
        ContractRule("what is saved is loaded again, field by field") { subject in
            for (what, bundle) in TokenBundle.unusual {
                try await subject.store.save(bundle)
                try await subject.store.expectStored(bundle, "after saving a bundle (\(what))")
            }
        },
        ContractRule("loading changes nothing") { subject in
            let bundle = TokenBundle.numbered(1)
            try await subject.store.save(bundle)
            for time in 1...3 { try await subject.store.expectStored(bundle, "at load \(time)") }
        },
        ContractRule("G17: no description or dump of the store shows a token") { subject in
            let bundle = TokenBundle.numbered(1)
            try await subject.store.save(bundle)
            _ = try await subject.store.load()
            try expectHidden(bundle.secrets, in: subject.store) { "its \($0) shows a token" }
        },
    ]

    private static let writing: [ContractRule<StoreUnderTest>] = [
        rule(
            "a save replaces what was saved before",
            writing: [
                .numbered(1, session: session), .numbered(2, session: session, generation: 1),
                TokenBundle(accessToken: "contract-access-3", refreshToken: nil),
            ]),
        rule("the same bundle can be saved twice", writing: Array(repeating: .numbered(1), count: 2)),
        rule("a deleted bundle is gone", writing: [.numbered(1), nil]),
        rule("deleting nothing, or twice, is no error", writing: [nil, .numbered(1), nil, nil]),
        rule("a bundle can be saved after a delete", writing: [.numbered(1), nil, .numbered(2)]),
    ]

    private static let session = SessionID(rawValue: "contract-session")

    /// A rule on writes, one after the other. A bundle is saved, and none is deleted; the store then returns the same.
    private static func rule(
        _ name: String, writing bundles: @escaping @Sendable @autoclosure () -> [TokenBundle?]
    ) -> ContractRule<StoreUnderTest> {
        ContractRule(name) { subject in
            for (number, bundle) in bundles().enumerated() {
                if let bundle { try await subject.store.save(bundle) } else { try await subject.store.delete() }
                let what = bundle == nil ? "delete" : "save"
                try await subject.store.expectStored(bundle, "after write number \(number + 1), a \(what)")
            }
        }
    }

    private static let concurrency: [ContractRule<StoreUnderTest>] = [
        ContractRule("concurrent saves leave one of the bundles, whole") { subject in
            let store = subject.store
            let bundles = (0..<24).map(TokenBundle.bulky)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for bundle in bundles {
                    group.addTask { try await store.save(bundle) }
                    group.addTask { try await expectWhole(store, oneOf: bundles, mayBeNone: true) }
                }
                try await group.waitForAll()
            }
            try await expectWhole(store, oneOf: bundles, mayBeNone: false)
        },
        ContractRule("G12: a save whose task is cancelled leaves the old bundle or the new one") { subject in
            let store = subject.store
            let bundles = [TokenBundle.bulky(1), .bulky(2)]
            try await store.save(bundles[0])
            for isEarly in [true, false] {
                let save = Task {
                    while isEarly && !Task.isCancelled { await Task.yield() }
                    try await store.save(bundles[1])
                }
                save.cancel()
                _ = await save.result
                try await expectWhole(store, oneOf: bundles, mayBeNone: false)
            }
        },
    ]

    private static let storage: [ContractRule<StoreUnderTest>] = [
        ContractRule("a second store over the same storage reads what the first has written") { subject in
            guard let reopen = subject.reopen else { return }
            let bundle = TokenBundle.numbered(1)
            try await subject.store.save(bundle)
            let second = try await reopen()
            try await second.expectStored(bundle, "in a store opened after the save")
            let next = TokenBundle.numbered(2)
            try await subject.store.save(next)
            try await second.expectStored(next, "in a store opened before the save")
            try await subject.store.delete()
            try await second.expectStored(nil, "in a store opened before the delete")
            try await reopen().expectStored(nil, "in a store opened after the delete")
        },
        ContractRule("G14: an unavailable store throws; it does not return nil") { subject in
            guard let makeUnavailable = subject.makeUnavailable else { return }
            try await subject.store.save(.numbered(1))
            let store = try await makeUnavailable()
            let loaded: TokenBundle?
            do { loaded = try await store.load() } catch { return }
            throw RuleBroken("load returned \(loaded.map { "\($0)" } ?? "nil") and threw nothing")
        },
        ContractRule("a save or delete that fails throws") { subject in
            guard let makeUnavailable = subject.makeUnavailable else { return }
            try await subject.store.save(.numbered(1))
            let store = try await makeUnavailable()
            try expect(await failure { try await store.save(.numbered(2)) } != nil, otherwise: "save threw nothing")
            try expect(await failure { try await store.delete() } != nil, otherwise: "delete threw nothing")
        },
        ContractRule("G17: no error shows a token") { subject in
            guard let makeUnavailable = subject.makeUnavailable else { return }
            let bundle = TokenBundle.numbered(1)
            try await subject.store.save(bundle)
            let store = try await makeUnavailable()
            let errors = [
                ("load", await failure { _ = try await store.load() }),
                ("save", await failure { try await store.save(bundle) }),
                ("delete", await failure { try await store.delete() }),
            ]
            for case (let call, let error?) in errors {
                try expectHidden(bundle.secrets, in: error) { "the \($0) of the error of \(call) shows a token" }
            }
        },
    ]

    private static func expectWhole(
        _ store: any TokenStore, oneOf bundles: [TokenBundle], mayBeNone: Bool
    ) async throws {
        guard let loaded = try await store.load() else {
            return try expect(mayBeNone, otherwise: "the store returns nil")
        }
        try expect(
            bundles.contains(loaded), otherwise: "the store returns \(loaded), which is not one of the saved bundles")
    }
}

func failure(of call: () async throws -> Void) async -> (any Error)? {
    do { try await call() } catch { return error }
    return nil
}
