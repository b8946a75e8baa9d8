import Foundation
import Testing

@testable import NetworkCore

@Suite("Pauses that servers ask for")
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
}
