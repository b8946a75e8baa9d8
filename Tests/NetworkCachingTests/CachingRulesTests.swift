import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import TestSupport
import Testing

@Suite("CachingTransport: validation and storing", .timeLimit(.minutes(10)))
struct CachingRulesTests {
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let cache = ResponseCache(limits: .of(entrySize: 20_000))

    func run(
        _ respond: @escaping ScriptedExchanges.Response,
        _ body: (CachedExchange, Recorder<HTTPTransportRequest>) async throws -> Void
    ) async throws {
        let get = CachedExchange(cache, clock, respond)
        try await body(get, get.requests)
    }

    /// More names than a cache compares.
    static let namesWithoutEnd = (0...32).map { "X-\($0)" }.joined(separator: ", ")

    /// A response that is validated from then on, with these fields.
    static func validated(_ fields: HTTPHeaders) -> ScriptedExchanges.Response {
        { _, number in
            number == 1 ? .scripted(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""]) : .scripted(304, fields)
        }
    }

    @Test(arguments: [["Cache-Control": "no-store"], ["Vary": "*"], ["Vary": namesWithoutEnd]] as [HTTPHeaders])
    func `a 304 that forbids storing removes the response`(fields: HTTPHeaders) async throws {
        try await run(Self.validated(fields)) { get, _ in
            _ = try await get()
            clock.advance(by: .seconds(61))
            let validated = try await get()
            #expect(validated.status == 200 && validated.body == Data("body".utf8))
            #expect(cache.count == 0)
        }
    }

    @Test func `a 304 with a new Vary selects by it from then on`() async throws {
        try await run(Self.validated(["Vary": "Accept-Language"])) { get, requests in
            _ = try await get(headers: ["Accept-Language": "de"])
            clock.advance(by: .seconds(61))
            _ = try await get(headers: ["Accept-Language": "de"])
            #expect(cache.count == 1)
            _ = try await get(headers: ["Accept-Language": "de"])
            #expect(requests.values.count == 2)
            _ = try await get(headers: ["Accept-Language": "en"])
            #expect(requests.values.count == 3)
        }
    }

    @Test(arguments: [401, 403]) func `a refusal removes all that is kept of its URL`(status: Int) async throws {
        try await run { _, number in
            number == 2
                ? .scripted(status) : .scripted(200, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
        } _: { get, _ in
            _ = try await get(headers: ["Accept-Language": "de"])
            #expect(cache.count == 1)
            _ = try await get(headers: ["Accept-Language": "en"])
            #expect(cache.count == 0)
        }
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
        try await run { request, _ in
            request.head.method == .get
                ? .scripted(200, ["Cache-Control": "max-age=60"]) : .scripted(201, [name: changed.place])
        } _: { get, sent in
            var kept = get
            kept.url = url(changed.origin)
            _ = try await kept("new")
            _ = try await get("x", method: .post)
            _ = try await kept("new")
            #expect(sent.values.filter { $0.head.method == .get }.count == changed.requests)
        }
    }

    @Test func `a body that is shorter than its length is not kept, also where the transport has let it pass`()
        async throws
    {
        try await run { _, _ in
            .scripted(200, ["Cache-Control": "max-age=60", "Content-Length": "10"])
        } _: { get, _ in
            _ = try await get()
            #expect(cache.count == 0)
        }
    }

    @Test func `a 304 without Date and Age makes the response new`() async throws {
        let old: HTTPHeaders = [
            "Cache-Control": "max-age=60", "ETag": "\"1\"", "Date": "Fri, 15 Jan 2027 08:00:00 GMT", "Age": "50",
        ]
        try await run { _, number in
            number == 1 ? .scripted(200, old) : .scripted(304)
        } _: { get, requests in
            _ = try await get()
            clock.advance(by: .seconds(61))
            for _ in 0..<3 { _ = try await get() }
            #expect(requests.values.count == 2)
        }
    }

    /// A response that is not kept.
    enum Unstorable: CaseIterable {
        case noStore, varyAll, withoutTime, largeByLength, largeWhileRead

        var response: HTTPTransportResponse {
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=60"]
            switch self {
            case .noStore: return .scripted(200, ["Cache-Control": "no-store"])
            case .varyAll: return .scripted(200, ["Cache-Control": "max-age=60", "Vary": "*"])
            case .withoutTime: return .scripted(404)
            case .largeByLength: return .scripted(200, fresh, body: Data(count: 30_000))
            case .largeWhileRead:
                let pieces = HTTPBody { [Data](repeating: Data(count: 10_000), count: 3).asynchronous }
                return HTTPTransportResponse(head: HTTPResponseHead(status: 200, headers: fresh), body: pieces)
            }
        }
    }

    @Test(arguments: Unstorable.allCases)
    func `a response that cannot be stored removes the one it replaces`(unstorable: Unstorable) async throws {
        try await run { request, number in
            guard number == 3 else { return .scripted(200, ["Cache-Control": "max-age=60", "Vary": "Accept"]) }
            return unstorable.response
        } _: { get, requests in
            _ = try await get(headers: ["Accept": "a/b"])
            _ = try await get(headers: ["Accept": "c/d"])
            _ = try await get(headers: ["Accept": "a/b", "Cache-Control": "no-cache"])
            #expect(cache.count == 1)
            _ = try await get(headers: ["Accept": "c/d"])
            #expect(requests.values.count == 3, "another variant stays")
        }
    }

    @Test(arguments: [500, 503, 408, 425, 429])
    func `a failure that says nothing of the resource leaves the kept response`(status: Int) async throws {
        try await run { _, number in
            number == 1 ? .scripted(200, ["Cache-Control": "max-age=60"]) : .scripted(status)
        } _: { get, _ in
            _ = try await get()
            #expect(try await get(headers: ["Cache-Control": "no-cache"]).status == status)
            #expect(cache.count == 1)
        }
    }

    @Test(arguments: [428, 429, 431, 511])
    func `a status that must not be stored is not (RFC 6585)`(status: Int) async throws {
        try await run { _, _ in
            .scripted(status, ["Cache-Control": "max-age=60"])
        } _: { get, _ in
            _ = try await get()
            #expect(cache.count == 0)
        }
    }

    @Test(arguments: ["X-API-Key", "X-Auth-Token", "Ocp-Apim-Subscription-Key", "X-Session"])
    func `a field that holds a secret passes by without a session`(name: String) async throws {
        try await run { _, _ in
            .scripted(200, ["Cache-Control": "max-age=60"])
        } _: { get, _ in
            _ = try await get(headers: [name: "secret"])
            #expect(cache.count == 0)
        }
    }

    @Test(arguments: [["50", "50"], ["50, 50"], ["50", "0"], ["50"]])
    func `of several ages the first one counts`(ages: [String]) async throws {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
        for age in ages { try headers.append("Age", age) }
        try await run { [headers] _, _ in
            .scripted(200, headers)
        } _: { get, requests in
            _ = try await get()
            clock.advance(by: .seconds(9))
            #expect(try await get().headers["Age"] == "59")
            clock.advance(by: .seconds(2))
            _ = try await get()
            #expect(requests.values.count == 2)
        }
    }
}

extension [Data] {
    /// The pieces, one after the other.
    fileprivate var asynchronous: AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in self { continuation.yield(piece) }
            continuation.finish()
        }
    }
}
