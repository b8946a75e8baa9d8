import ContractTesting
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkCaching
@testable import NetworkTesting

// Validation and storing.
extension CachingTransportTests {
    /// More names than a cache compares.
    static let namesWithoutEnd = (0...32).map { "X-\($0)" }.joined(separator: ", ")

    /// A response that is validated from then on, with these fields.
    static func validated(_ fields: HTTPHeaders) -> ExchangeScript {
        { _, number in
            number == 1 ? .scripted(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""]) : .scripted(304, fields)
        }
    }

    @Test(arguments: [["Cache-Control": "no-store"], ["Vary": "*"], ["Vary": namesWithoutEnd]] as [HTTPHeaders])
    func `a 304 that forbids storing removes the response`(fields: HTTPHeaders) async throws {
        let get = CachedExchange(cache, clock, Self.validated(fields))
        _ = try await get()
        clock.advance(by: .seconds(61))
        let validated = try await get()
        #expect(validated.status == 200 && validated.body == Data("body".utf8))
        #expect(cache.count == 0)
    }

    @Test func `a 304 with a new Vary selects by it from then on`() async throws {
        let get = CachedExchange(cache, clock, Self.validated(["Vary": "Accept-Language"]))
        _ = try await get(headers: ["Accept-Language": "de"])
        clock.advance(by: .seconds(61))
        _ = try await get(headers: ["Accept-Language": "de"])
        #expect(cache.count == 1)
        _ = try await get(headers: ["Accept-Language": "de"])
        #expect(get.requests.count == 2)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(get.requests.count == 3)
    }

    @Test(arguments: [401, 403]) func `a refusal removes all that is kept of its URL`(status: Int) async throws {
        let get = CachedExchange(cache, clock) { _, number in
            number == 2
                ? .scripted(status) : .scripted(200, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
        }
        _ = try await get(headers: ["Accept-Language": "de"])
        #expect(cache.count == 1)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(cache.count == 0)
    }

    @Test(
        arguments: ["Location", "Content-Location"],
        [
            ("https://a.example", "https://a.example/new", 2), ("https://a.example", "/new", 2),
            ("https://b.example", "https://b.example/new", 1),
        ])
    func `an unsafe request invalidates what it has changed beside its URL, within its origin`(
        name: String, changed: (origin: String, place: String, requests: Int)
    ) async throws {
        let get = CachedExchange(cache, clock) { request, _ in
            request.method == .get
                ? .scripted(200, .fresh) : .scripted(201, [name: changed.place])
        }
        var kept = get
        kept.url = url(changed.origin)
        _ = try await kept("new")
        _ = try await get("x", method: .post)
        _ = try await kept("new")
        #expect(get.requests.filter { $0.method == .get }.count == changed.requests)
    }

    @Test func `a 304 without Date and Age makes the response new`() async throws {
        let old: HTTPHeaders = [
            "Cache-Control": "max-age=60", "ETag": "\"1\"", "Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Age": "50",
        ]
        let get = CachedExchange(cache, clock) { _, number in number == 1 ? .scripted(200, old) : .scripted(304) }
        _ = try await get()
        clock.advance(by: .seconds(61))
        for _ in 0..<3 { _ = try await get() }
        #expect(get.requests.count == 2)
    }

    /// A response that is not kept.
    enum Unstorable: CaseIterable {
        case noStore, varyAll, withoutTime, largeByLength, largeWhileRead

        var response: HTTPTransportResponse {
            switch self {
            case .noStore: return .scripted(200, ["Cache-Control": "no-store"])
            case .varyAll: return .scripted(200, ["Cache-Control": "max-age=60", "Vary": "*"])
            case .withoutTime: return .scripted(404)
            case .largeByLength: return .scripted(200, .fresh, body: Data(count: 30_000))
            case .largeWhileRead:
                let pieces = HTTPBody { AsyncStream([Data](repeating: Data(count: 10_000), count: 3)) }
                return HTTPTransportResponse(head: HTTPResponseHead(status: 200, headers: .fresh), body: pieces)
            }
        }
    }

    @Test(arguments: Unstorable.allCases)
    func `a response that cannot be stored removes the one it replaces`(unstorable: Unstorable) async throws {
        let get = CachedExchange(cache, clock) { request, number in
            guard number == 3 else { return .scripted(200, ["Cache-Control": "max-age=60", "Vary": "Accept"]) }
            return unstorable.response
        }
        _ = try await get(headers: ["Accept": "a/b"])
        _ = try await get(headers: ["Accept": "c/d"])
        _ = try await get(headers: ["Accept": "a/b", "Cache-Control": "no-cache"])
        #expect(cache.count == 1)
        _ = try await get(headers: ["Accept": "c/d"])
        #expect(get.requests.count == 3, "another variant stays")
    }

    @Test(arguments: [500, 503, 408, 419, 425, 429])
    func `a failure that says nothing of the resource leaves the kept response`(status: Int) async throws {
        let get = CachedExchange(cache, clock) { _, number in
            number == 1 ? .scripted(200, .fresh) : .scripted(status)
        }
        _ = try await get()
        #expect(try await get(headers: ["Cache-Control": "no-cache"]).status == status)
        #expect(cache.count == 1)
    }

    @Test(
        arguments: [
            // A body that is shorter than its length, also where the transport has let it pass.
            (200, ["Cache-Control": "max-age=60", "Content-Length": "10"], [:]),
            // Statuses that must not be stored (RFC 6585).
            (428, .fresh, [:]), (429, .fresh, [:]), (431, .fresh, [:]), (511, .fresh, [:]),
            // A credential without a session, and a part.
            (200, .fresh, ["X-API-Key": "x"]), (200, .fresh, ["X-Auth-Token": "x"]), (200, .fresh, ["Cookie": "x"]),
            (200, .fresh, ["Ocp-Apim-Subscription-Key": "x"]), (200, .fresh, ["X-Session": "x"]),
            (200, .fresh, ["Authorization": "Basic x"]), (200, .fresh, ["Range": "bytes=0-"]),
        ] as [(Int, HTTPHeaders, HTTPHeaders)])
    func `what must not be kept is requested each time`(
        status: Int, response: HTTPHeaders, request: HTTPHeaders
    ) async throws {
        let get = CachedExchange(cache, clock) { _, _ in .scripted(status, response) }
        for _ in 0..<2 { _ = try await get(headers: request) }
        #expect(get.requests.count == 2 && cache.count == 0)
    }

    @Test(arguments: [["50", "50"], ["50, 50"], ["50", "0"], ["50"]])
    func `of several ages the first one counts`(ages: [String]) async throws {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
        for age in ages { try headers.append("Age", age) }
        let get = CachedExchange(cache, clock) { [headers] _, _ in .scripted(200, headers) }
        _ = try await get()
        clock.advance(by: .seconds(9))
        #expect(try await get().headers["Age"] == "59")
        clock.advance(by: .seconds(2))
        _ = try await get()
        #expect(get.requests.count == 2)
    }

    /// G26. `Cache-Control`, as any server may write it.
    @Test(.ownThread) func `no input crashes or hangs the parser, and its time is linear in the length of its input`() {
        FuzzedParser(
            "Cache-Control", seeds: ["max-age=60, stale-if-error=\"5\", private=\"a,b\"", "no-store,no-cache"],
            words: ["max-age", "=", "\"", ",", "\\", "99999999999999999999"],
            units: [",", "a=\"", "max-age=1,", "\\", "a", " "]
        ) { text in
            #expect(CacheControl(HTTPHeaders([("Cache-Control", text)])).seconds("max-age") ?? 0 >= 0)
        }.check()
    }
}
