import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCaching

@Suite("CachingTransport", .timeLimit(.minutes(10)))
struct CachingTransportTests {
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let cache = ResponseCache(limits: .of(entrySize: 20_000))

    @Test func `a revalidation that starts after a session's end stores nothing`() async throws {
        // The body has to be pulled, as from a connection.
        let get = CachedExchange(cache, clock) { _, _ in
            let rest = Locked(["body"])
            let body = HTTPBody(pull: { rest.withLock { $0.popLast() }.map { Data($0.utf8) } })
            let headers: HTTPHeaders = ["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"1\""]
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200, headers: headers), body: body)
        }
        for _ in 1...200 {
            _ = try await get(session: .alice)
            clock.advance(by: .seconds(1))
            // Served as it is, and revalidated behind it.
            _ = try await get(session: .alice)
            cache.deleteResponses(of: .alice)
            // The end of the session may come before the revalidation has sent a request.
            try await until { get.transport.revalidations.withLock(\.isEmpty) }
            #expect(cache.count == 0)
            cache.deleteResponses(of: .alice)
        }
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], true), (["Cache-Control": "max-age=60, no-store"], false),
            (["Cache-Control": "max-age=0"], false), (["Cache-Control": "no-cache, max-age=60"], false),
            (["Cache-Control": "max-age=\"60\""], true), (["Cache-Control": "max-age=6x"], false),
            (["Cache-Control": "max-age=60, max-age=0"], false), (["Cache-Control": "private, MAX-AGE=60"], true),
            (["Cache-Control": "s-maxage=60"], false), (["Cache-Control": "max-age=60", "Age": "60"], false),
            (["Cache-Control": "max-age=60", "Vary": "*"], false), ([:], false), (["ETag": "\"1\""], false),
            (["Expires": "Fri, 15 Jan 2027 08:01:00 GMT", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"], true),
            (["Expires": "0", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"], false),
            (["Last-Modified": "Tue, 05 Jan 2027 08:00:00 GMT", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"], true),
            (["Cache-Control": "max-age=99999999999999999999999"], true),
        ] as [(HTTPHeaders, Bool)])
    func `what is fresh is served without a request`(headers: HTTPHeaders, isServed: Bool) async throws {
        let get = CachedExchange(cache, clock, CachedExchange.numbered(headers))
        _ = try await get()
        clock.advance(by: .seconds(10))
        let second = try await get()
        #expect((get.requests.count == 1) == isServed)
        #expect((second.headers["Age"].flatMap { Int($0) } == 10) == isServed)
    }

    @Test func `a response is fresh for its lifetime, and a clock set back makes it stale`() async throws {
        let get = CachedExchange(cache, clock, CachedExchange.numbered())
        _ = try await get()
        clock.advance(by: .seconds(59))
        _ = try await get()
        #expect(get.requests.count == 1)
        clock.setDate(Date(timeIntervalSince1970: 0))
        _ = try await get()
        #expect(get.requests.count == 1, "while the process runs, its uptime counts")
        clock.advance(by: .seconds(1))
        _ = try await get()
        #expect(get.requests.count == 2)
    }

    @Test func `a session never sees the response of another one, nor of its end`() async throws {
        let get = CachedExchange(cache, clock, CachedExchange.numbered())
        let first = try await get(session: .alice, token: "1")
        #expect(try await get(session: .bob, token: "1").body != first.body)
        #expect(try await get(session: nil).body != first.body)
        #expect(try await get(session: .alice, token: "2").body == first.body)
        cache.deleteResponses(of: .alice)
        #expect(try await get(session: .alice).body != first.body)
        #expect(get.requests.count == 4)
        cache.deleteResponsesOfSessions()
        #expect(cache.count == 1)
    }

    @Test func `Vary selects by the request's fields, and by the session in place of its token`() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language, Authorization"]
        let get = CachedExchange(cache, clock, CachedExchange.numbered(headers))
        let german = try await get(session: .alice, token: "1", headers: ["Accept-Language": "de"])
        let english = try await get(session: .alice, token: "1", headers: ["Accept-Language": "en"])
        #expect(german.body != english.body)
        #expect(
            try await get(session: .alice, token: "2", headers: ["Accept-Language": "de"]).body == german.body)
        #expect(get.requests.count == 2)
        // A request that has lost its token to a redirect is another one.
        #expect(try await get(session: .alice, headers: ["Accept-Language": "en"]).body != english.body)
    }

    @Test func `what is stale is validated, and a 304 makes it fresh with its new fields`() async throws {
        let get = CachedExchange(cache, clock) { request, number in
            let fields: HTTPHeaders = ["ETag": "\"v1\"", "Cache-Control": "max-age=60", "X-Number": "\(number)"]
            return request.headers["If-None-Match"] == "\"v1\""
                ? .scripted(304, fields) : .scripted(200, fields)
        }
        _ = try await get()
        clock.advance(by: .seconds(61))
        let validated = try await get()
        #expect(validated.status == 200 && validated.body == Data("body".utf8))
        #expect(validated.headers["X-Number"] == "2")
        clock.advance(by: .seconds(59))
        #expect(try await get().headers["X-Number"] == "2")
        #expect(get.requests.count == 2)
    }

    @Test(
        arguments: [
            ("stale-if-error=60", 503, 200), ("stale-if-error=60", 500, 200), ("stale-if-error=60", 401, 401),
            ("stale-if-error=60", 403, 403), ("stale-if-error=60", 404, 404), ("stale-if-error=5", 503, 503),
            ("", 503, 503), ("stale-if-error=60, must-revalidate", 503, 503), ("stale-if-error=60", nil, 200),
        ] as [(String, Int?, Int)])
    func `a stale response is served in place of an error or a lost connection as the server allows`(
        directive: String, status: Int?, served: Int
    ) async throws {
        let get = CachedExchange(cache, clock) { _, number in
            guard number > 1 else { return .scripted(200, ["Cache-Control": "max-age=1, \(directive)"]) }
            guard let status else { throw HTTPTransportError(.connectionFailed, reason: "the connection was lost") }
            return .scripted(status)
        }
        _ = try await get()
        clock.advance(by: .seconds(20))
        #expect(try await get().status == served)
        if status == 401 || status == 403 { #expect(cache.count == 0) }
    }

    @Test func `a refused token leaves what is kept of its session, but where no caller waits`() async throws {
        for control in ["max-age=1", "max-age=1, stale-while-revalidate=60"] {
            let get = CachedExchange(cache, clock) { _, number in
                number == 1 ? .scripted(200, ["Cache-Control": control, "ETag": "\"1\""]) : .scripted(401)
            }
            _ = try await get(session: .alice, token: "1")
            clock.advance(by: .seconds(20))
            let isServed = try await get(session: .alice, token: "1").status == 200
            #expect(isServed == control.contains("revalidate"))
            if isServed { try await until { cache.count == 0 } }
            #expect(cache.count == (isServed ? 0 : 1))
            #expect(try await get(session: .alice, token: "1").status == 401)
            #expect(get.requests.count == 3)
            cache.deleteAll()
        }
    }

    @Test func `stale-while-revalidate serves at once, and asks once behind it`() async throws {
        let gate = Gate()
        let get = CachedExchange(cache, clock) { _, number in
            if number == 2 { await gate.pass() }
            let fields: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=60"]
            return .scripted(200, fields, body: Data("\(number)".utf8))
        }
        _ = try await get()
        clock.advance(by: .seconds(20))
        for _ in 0..<5 { #expect(try await get().body == Data("1".utf8)) }
        gate.open()
        try await until { try await get().body == Data("2".utf8) }
        #expect(get.requests.count == 2)
    }

    @Test(
        arguments: [
            ("POST", 201, 2), ("DELETE", 204, 2), ("PUT", 500, 1), ("HEAD", 200, 1), ("QUERY", 200, 1),
            ("PROPFIND", 207, 1), ("REPORT", 207, 1), ("SEARCH", 207, 1), ("PROPPATCH", 207, 2), ("query", 200, 2),
        ])
    func `an unsafe request that succeeds invalidates its URL`(method: String, status: Int, requests: Int) async throws
    {
        let get = CachedExchange(cache, clock) { request, _ in
            request.method == .get ? .scripted(200, .fresh) : .scripted(status)
        }
        _ = try await get(session: .alice)
        _ = try await get(method: HTTPMethod(rawValue: method), session: .bob)
        _ = try await get(session: .alice)
        #expect(get.requests.count { $0.method == .get } == requests)
    }

    @Test(arguments: [
        ("no-cache", 2), ("no-store", 2), ("max-age=5", 2), ("min-fresh=55", 2), ("max-age=15", 1),
        ("only-if-cached", 1),
    ])
    func `the request's directives are followed`(directive: String, requests: Int) async throws {
        let get = CachedExchange(cache, clock, CachedExchange.numbered())
        _ = try await get()
        clock.advance(by: .seconds(10))
        _ = try await get(headers: ["Cache-Control": directive])
        #expect(get.requests.count == requests)
        #expect(try await get("other", headers: ["Cache-Control": "only-if-cached"]).status == 504)
    }

    @Test func `a response that breaks off is not kept`() async throws {
        let get = CachedExchange(cache, clock) { _, _ in
            let rest = Locked(["half"])
            let body = HTTPBody(pull: {
                if let piece = rest.withLock({ $0.popLast() }) { return Data(piece.utf8) }
                throw HTTPTransportError(.connectionFailed, reason: "the connection was lost")
            })
            let head = HTTPResponseHead(status: 200, headers: .fresh)
            return HTTPTransportResponse(head: head, body: body)
        }
        await #expect(throws: HTTPTransportError.self) { try await get() }
        #expect(cache.count == 0)
    }

    @Test func `the client's clock of tokens does not see the date of a kept response`() async throws {
        let fields: HTTPHeaders = ["Cache-Control": "max-age=60", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"]
        let provider = ScriptedTokenProvider()
        let get = CachedExchange(cache, clock) { _, _ in .scripted(200, fields) }
        let network = NetworkClient(baseURL: baseURL, transport: get.transport, clock: clock)
            .authenticated(by: provider)
        for _ in 0..<3 { try await network.send(Endpoint<Void>.get("x")) }
        #expect(get.requests.count == 1 && provider.dates.count == 1)
    }
}
