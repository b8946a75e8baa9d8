import Foundation
import Testing

@testable import NetworkCore

@Suite("Pauses that servers ask for, and dates")
struct ServerPauseTests {
    /// The date of the server, 1 800 000 000 seconds since 1970.
    let date = "Fri, 15 Jan 2027 08:00:00 GMT"

    func pause(_ status: Int, _ fields: HTTPHeaders) -> Duration? {
        var headers = fields
        headers["Date"] = date
        return HTTPResponseHead(status: status, headers: headers).retryAfter(now: .distantPast)
    }

    @Test(
        arguments: [
            (["retry-after-ms": "2542"], .milliseconds(2_542)), (["retry-after-ms": "0.5"], .milliseconds(1)),
            (["retry-after-ms": "1500", "Retry-After": "2"], .milliseconds(1_500)),
            (["retry-after-ms": "soon", "Retry-After": "2"], .seconds(2)),
            (["Retry-After": "2", "RateLimit": "\"a\";r=0;t=30"], .seconds(2)),
            (["Retry-After": "soon", "RateLimit": "\"a\";r=0;t=30"], .seconds(30)),
            (["RateLimit": "\"burst\";r=0;t=5, \"day\";r=9;t=3600"], .seconds(5)),
            (["RateLimit": "\"burst\";r=0;t=5, \"day\";t=3600;r=0"], .seconds(3_600)),
            (["RateLimit": "limit=9, remaining=0, reset=7"], .seconds(7)),
            (["RateLimit-Remaining": "0", "RateLimit-Reset": "7.2"], .seconds(8)),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"], .seconds(30)),
            (["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "30"], .seconds(30)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000060"], .seconds(60)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000060500"], .seconds(61)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1900000000"], .seconds(86_400)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000000"], nil),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1799999999"], nil),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"], nil),
            (["x-ratelimit-remaining": "0"], nil), (["x-ratelimit-remaining": "1", "x-ratelimit-reset": "30"], nil),
            (["RateLimit": "\"a\";r=1;t=30"], nil), (["RateLimit": "=;,r=;t=x,r=-1"], nil), ([:], nil),
        ] as [(HTTPHeaders, Duration?)]
    )
    func `a refusal for a limit asks for the time to its reset`(fields: HTTPHeaders, pause: Duration?) {
        #expect([403, 429, 503].map { self.pause($0, fields) } == [pause, pause, pause])
    }

    @Test func `a reset asks for a pause where the limit is used up, or a 429 says so`() {
        let reset: HTTPHeaders = ["X-RateLimit-Reset": "30"]
        #expect([403, 429, 503].map { pause($0, reset) } == [nil, .seconds(30), nil])
        let usedUp: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"]
        #expect([200, 400, 401, 409, 500].compactMap { pause($0, usedUp) } == [])
    }

    // MARK: Dates in header fields

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Mon, 28 Feb 2100 00:00:00 GMT", 4_107_456_000),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
    ])
    func `a valid date is read`(text: String, seconds: Double) {
        #expect(HTTPDate(text)?.date.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37", "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 6-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Someday, 06-Nov-94 08:49:37 GMT", "Sun Nov  06 08:49:37 1994", "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 8:49:37 1994", "Sun  Nov 6 08:49:37 1994", "Wed Nov 16 08:49:37 1994 GMT", "     ",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nob 1994 08:49:37 GMT", "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Fri, 30 Feb 2001 00:00:00 GMT", "Sat, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 08:49 37 GMT",
    ])
    func `an invalid date is refused`(text: String) { #expect(HTTPDate(text) == nil) }

    @Test(arguments: [("26", 1_767_225_600.0), ("76", 3_345_062_400), ("77", 220_924_800), ("69", nil)])
    func `a year of two digits is at most 50 years ahead`(year: String, seconds: Double?) {
        let (now, later) = (Date(timeIntervalSince1970: 1_780_000_000), Date(timeIntervalSince1970: 600_000_000))
        let date = HTTPDate("Thursday, 01-Jan-\(year) 00:00:00 GMT", now: year == "69" ? later : now)
        #expect(date?.date.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        ("0", Duration.zero), ("120", .seconds(120)), (" 5 ", .seconds(5)),
        ("2.542", .seconds(3)), ("299.997", .seconds(300)), ("1.2.3", nil), (".5", nil), ("5s", nil),
        ("99999999999999999999999", .seconds(86_400)), ("9999999999", .seconds(86_400)), ("-1", nil), ("soon", nil),
        ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sun, 06 Nov 1994 08:00:00 GMT", .zero),
    ])
    func `Retry-After counts from the Date of the response`(text: String, pause: Duration?) {
        let head = HTTPResponseHead(
            status: 503, headers: ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(head.retryAfter(now: Date()) == pause)
    }

    @Test func `Retry-After counts from the device's clock if the response has no Date`() {
        let head = HTTPResponseHead(status: 503, headers: ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(head.retryAfter(now: Date(timeIntervalSince1970: 784_111_767)) == .seconds(10))
    }
}
