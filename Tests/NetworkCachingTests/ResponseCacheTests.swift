import AuthInterface
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import TestSupport
import Testing

private let alice = SessionID(rawValue: "session-a")
private let bob = SessionID(rawValue: "session-b")

@Suite("ResponseCache", .timeLimit(.minutes(10)))
struct ResponseCacheTests {
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let cache = ResponseCache(limits: .of(entries: 20))

    func exchange(
        with cache: ResponseCache? = nil, _ respond: @escaping ScriptedExchanges.Response
    ) -> CachedExchange {
        CachedExchange(cache ?? self.cache, clock, respond)
    }

    /// A response whose body is the number of the request.
    static let numbered: ScriptedExchanges.Response = { _, number in
        .scripted(200, ["Cache-Control": "max-age=60"], body: Data("\(number)".utf8))
    }

    @Test func `a sign-in that replaces a session deletes the responses of the earlier one`() async throws {
        let get = exchange(Self.numbered)
        for session in [alice, bob, nil] as [SessionID?] { _ = try await get(session: session) }
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.unknown, .signedIn(alice), .signedIn(alice)]))
        #expect(try await get(session: alice).body == Data("1".utf8), "the responses of the current session stay")
        #expect(cache.count == 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(alice), .signedIn(bob)]))
        #expect(cache.count == 1)
        #expect(try await get(session: nil).body == Data("3".utf8))
    }

    @Test(arguments: [SessionState.signedOut(.byUser), .signedIn(bob)])
    func `an exchange that starts after the end of its session stores nothing`(end: SessionState) async throws {
        let get = exchange(Self.numbered)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(alice), end]))
        _ = try await get(session: alice)
        #expect(cache.count == 0)
        _ = try await get(session: bob)
        #expect(cache.count == 1)
    }

    @Test func `what is under way for the session that signs in is stored, and for another one not`() async throws {
        let gate = Gate()
        let get = exchange { _, _ in
            await gate.pass()
            return .scripted(200, ["Cache-Control": "max-age=60"])
        }
        let requests = [alice, bob].map { session in Task { try await get(session: session) } }
        try await gate.arrivals(atLeast: 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(bob)]))
        gate.open()
        for request in requests { _ = try await request.value }
        #expect(cache.count == 1)
        _ = try await get(session: bob)
        #expect(get.requests.values.count == 2)
    }

    @Test func `what is under way when all is deleted is not stored, whichever session is signed in`() async throws {
        let gate = Gate()
        let get = exchange { _, _ in
            await gate.pass()
            return .scripted(200, ["Cache-Control": "max-age=60"])
        }
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(alice)]))
        let request = Task { try await get(session: alice) }
        try await gate.arrivals(atLeast: 1)
        cache.deleteAll()
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(alice)]))
        gate.open()
        _ = try await request.value
        #expect(cache.count == 0)
    }

    @Test func `a bounded number of ended sessions is remembered, the last ones`() async throws {
        let get = exchange(Self.numbered)
        let sessions = (0..<1_000).map { SessionID(rawValue: "\($0)") }
        await cache.deleteResponses(atEndOf: PassingSession(passed: sessions.map { .signedIn($0) }))
        _ = try await get(session: sessions[998])
        #expect(cache.count == 0)
        _ = try await get(session: sessions[0])
        #expect(cache.count == 1)
    }

    @Test func `a session that is signed in again is no longer an ended one`() async throws {
        let get = exchange(Self.numbered)
        let states: [SessionState] = [.signedIn(alice), .signedOut(.byUser), .signedIn(alice)]
        await cache.deleteResponses(atEndOf: PassingSession(passed: states))
        _ = try await get(session: alice)
        #expect(cache.count == 1)
    }

    @Test func `a response under way while its URL is changed is not stored`() async throws {
        let gate = Gate()
        let get = exchange { request, _ in
            if request.head.method == .get { await gate.pass() }
            return .scripted(200, ["Cache-Control": "max-age=60"])
        }
        let slow = Task { try await get() }
        try await gate.arrivals(atLeast: 1)
        _ = try await get(method: .put)
        gate.open()
        _ = try await slow.value
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
        let place = try TemporaryFile(Data())
        let folder = place.url.deletingLastPathComponent().appendingPathComponent("cache")
        let inFolder = try ResponseCache(folder: folder, limits: .of(entries: maximum))
        for cache in [ResponseCache(limits: .of(entries: maximum)), inFolder] {
            let get = exchange(with: cache, Self.numbered)
            for number in 0...maximum { _ = try await get("\(number)") }
            #expect(cache.count == kept)
            #expect(try await get("\(maximum)").body == Data("\(maximum + 1)".utf8), "the newest is kept")
        }
    }

    @Test func `a newest response over nine tenths of the bytes is kept`() async throws {
        let place = try TemporaryFile(Data())
        let folder = place.url.deletingLastPathComponent().appendingPathComponent("cache")
        let cache = try ResponseCache(folder: folder, limits: .of(bytes: 1_000))
        let get = exchange(with: cache) { _, _ in
            .scripted(200, ["Cache-Control": "max-age=60"], body: Data(count: 650))
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
