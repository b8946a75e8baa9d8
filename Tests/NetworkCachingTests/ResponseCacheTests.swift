import AuthInterface
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import TestSupport
import Testing

@Suite("ResponseCache", .timeLimit(.minutes(10)))
struct ResponseCacheTests {
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let cache = ResponseCache(limits: .of(entries: 20))

    func exchange(
        with cache: ResponseCache? = nil, _ respond: @escaping ScriptedExchanges.Response
    ) -> CachedExchange {
        CachedExchange(cache ?? self.cache, clock, respond)
    }

    @Test func `a sign-in that replaces a session deletes the responses of the earlier one`() async throws {
        let get = exchange(ScriptedExchanges.numbered())
        for session in [.alice, .bob, nil] as [SessionID?] { _ = try await get(session: session) }
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.unknown, .signedIn(.alice), .signedIn(.alice)]))
        #expect(try await get(session: .alice).body == Data("1".utf8), "the responses of the current session stay")
        #expect(cache.count == 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(.alice), .signedIn(.bob)]))
        #expect(cache.count == 1)
        #expect(try await get(session: nil).body == Data("3".utf8))
    }

    private static let thousand = (0..<1_000).map { SessionState.signedIn(SessionID(rawValue: "\($0)")) }

    /// The states of the session, the session of the exchange, and how many responses are kept then.
    @Test(
        arguments: [
            ([.signedIn(.alice), .signedOut(.byUser)], .alice, 0), ([.signedIn(.alice), .signedIn(.bob)], .alice, 0),
            ([.signedIn(.alice), .signedOut(.byUser)], .bob, 1), ([.signedIn(.alice), .signedIn(.bob)], .bob, 1),
            ([.signedIn(.alice), .signedOut(.byUser), .signedIn(.alice)], .alice, 1),
            // A bounded number of ended sessions is remembered, the last ones.
            (thousand, SessionID(rawValue: "998"), 0), (thousand, SessionID(rawValue: "0"), 1),
        ] as [([SessionState], SessionID, Int)])
    func `an exchange that starts after the end of its session stores nothing`(
        passed: [SessionState], session: SessionID, kept: Int
    ) async throws {
        await cache.deleteResponses(atEndOf: PassingSession(passed: passed))
        _ = try await exchange(ScriptedExchanges.numbered())(session: session)
        #expect(cache.count == kept)
    }

    @Test func `what is under way for the session that signs in is stored, and for another one not`() async throws {
        let gate = Gate()
        let get = exchange { _, _ in
            await gate.pass()
            return .scripted(200, .fresh)
        }
        let requests = [SessionID.alice, .bob].map { session in Task { try await get(session: session) } }
        try await gate.arrivals(atLeast: 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(.bob)]))
        gate.open()
        for request in requests { _ = try await request.value }
        #expect(cache.count == 1)
        _ = try await get(session: .bob)
        #expect(get.requests.values.count == 2)
    }

    /// What happens while a response is under way.
    enum Change: CaseIterable { case sessionEnds, allIsDeleted, urlChanges }

    @Test(arguments: Change.allCases)
    func `a response that was under way is not stored after a change`(change: Change) async throws {
        let gate = Gate()
        let get = exchange { request, _ in
            if request.head.method == .get { await gate.pass() }
            return .scripted(200, .fresh)
        }
        let signedIn = PassingSession(passed: [.signedIn(.alice)])
        await cache.deleteResponses(atEndOf: signedIn)
        let request = Task { try await get(session: .alice) }
        try await gate.arrivals(atLeast: 1)
        switch change {
        case .sessionEnds: cache.deleteResponses(of: .alice)
        case .allIsDeleted:
            cache.deleteAll()
            await cache.deleteResponses(atEndOf: signedIn)
        case .urlChanges: _ = try await get(method: .put)
        }
        gate.open()
        _ = try await request.value
        #expect(cache.count == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(1)])
    func `of several responses that serve a request, the most recent one is served`(pause: Duration) async throws {
        let get = exchange { _, number in
            let vary: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
            let headers = number == 1 ? vary : ["Cache-Control": "max-age=60"]
            return .scripted(200, headers, body: Data("\(number)".utf8))
        }
        _ = try await get(headers: ["Accept-Language": "de"])
        clock.advance(by: pause)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(try await get(headers: ["Accept-Language": "de"]).body == Data("2".utf8))
    }

    @Test(arguments: [(5, 5), (20, 18), (1, 1)])
    func `eviction leaves nine tenths of the entries, rounded up`(maximum: Int, kept: Int) async throws {
        let place = TemporaryFolder()
        let folder = place.fresh()
        let inFolder = try ResponseCache(folder: folder, limits: .of(entries: maximum))
        for cache in [ResponseCache(limits: .of(entries: maximum)), inFolder] {
            let get = exchange(with: cache, ScriptedExchanges.numbered())
            for number in 0...maximum { _ = try await get("\(number)") }
            #expect(cache.count == kept)
            #expect(try await get("\(maximum)").body == Data("\(maximum + 1)".utf8), "the newest is kept")
        }
    }

    @Test func `a newest response over nine tenths of the bytes is kept`() async throws {
        let place = TemporaryFolder()
        let folder = place.fresh()
        let cache = try ResponseCache(folder: folder, limits: .of(bytes: 1_000))
        let get = exchange(with: cache) { _, _ in
            .scripted(200, .fresh, body: Data(count: 650))
        }
        for path in ["1", "2"] { _ = try await get(path) }
        #expect(cache.count == 1 && cache.size > 900)
    }
}

extension ResponseCache.Limits {
    /// The standard limits but for those that are given.
    static func of(bytes: Int? = nil, entries: Int? = nil, entrySize: Int? = nil) -> Self {
        var limits = Self()
        limits.maximumBytes = bytes ?? limits.maximumBytes
        limits.maximumEntries = entries ?? limits.maximumEntries
        limits.maximumEntrySize = entrySize ?? limits.maximumEntrySize
        return limits
    }
}
