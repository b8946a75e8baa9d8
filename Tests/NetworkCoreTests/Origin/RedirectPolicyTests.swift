import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("RedirectPolicy")
struct RedirectPolicyTests {
    func decide(
        _ status: Int,
        from origin: String = "https://api.example.com/a",
        to location: String?,
        method: String = "GET",
        headers: [String: String] = [:],
        hasBody: Bool = false,
        isReplayable: Bool = true,
        rule: RedirectRule = .follow,
        answeredBy responseURL: String? = nil
    ) -> RedirectPolicy.Decision {
        let request = HTTPRequestHead(
            method: HTTPMethod(rawValue: method), url: url(origin), headers: HTTPHeaders(headers.map { ($0, $1) }))
        let fields = HTTPHeaders(location.map { [("Location", $0)] } ?? [])
        let response = HTTPResponseHead(status: status, headers: fields, url: url(responseURL ?? origin))
        let policy = RedirectPolicy(cleartextExceptions: [], rule: rule)
        return policy.decision(for: response, to: request, hasBody: hasBody, isReplayable: isReplayable)
    }

    func followed(_ decision: RedirectPolicy.Decision) throws -> RedirectPolicy.OutgoingRequest {
        guard case .follow(let next) = decision else { throw NetworkError(.redirectRefused, reason: "\(decision)") }
        return next
    }

    /// Expects that a redirect is refused, and returns the reason.
    @discardableResult
    func refused(
        _ decision: RedirectPolicy.Decision, _ code: NetworkError.Code = .redirectRefused,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> String {
        guard case .refuse(code, let reason) = decision else {
            Issue.record("it is not refused: \(decision)", sourceLocation: sourceLocation)
            return ""
        }
        return reason
    }

    @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 400, 401])
    func `other statuses, and a redirect without a location, are responses`(status: Int) {
        #expect(decide(status, to: "/b") == .none && decide(302, to: nil) == .none)
    }

    @Test(arguments: [
        (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"),
        (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "DELETE", "DELETE"),
        (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"),
        (307, "POST", "POST"), (307, "PATCH", "PATCH"), (308, "POST", "POST"), (308, "GET", "GET"),
    ])
    func `the method is chosen as browsers choose it`(status: Int, method: String, next: String) throws {
        #expect(try followed(decide(status, to: "/b", method: method)).request.method.rawValue == next)
    }

    @Test(arguments: [
        ("/b", "https://api.example.com/b"), ("b", "https://api.example.com/b"),
        ("?x=1", "https://api.example.com/a?x=1"),
        ("https://api.example.com:443/c", "https://api.example.com:443/c"),
        ("//cdn.example.net/d", "https://cdn.example.net/d"),
        ("/files/a%20b/ü.pdf?sig=abc%2Fdef", "https://api.example.com/files/a%20b/%C3%BC.pdf?sig=abc%2Fdef"),
        ("https://cdn.example.net/x%2Fy z?b=100%", "https://cdn.example.net/x%2Fy%20z?b=100%25"),
        ("//cdn.example.net/ä%20", "https://cdn.example.net/%C3%A4%20"),
        ("https://[::1]:8443/ü%20?a[]=1%2C2", "https://[::1]:8443/%C3%BC%20?a%5B%5D=1%2C2"),
        ("?q=caf%C3%A9 été&x=%zz", "https://api.example.com/a?q=caf%C3%A9%20%C3%A9t%C3%A9&x=%25zz"),
        ("/b%2525?x=a%2bb", "https://api.example.com/b%2525?x=a%2bb"),
    ])
    func `a location is relative to the request, and encoded where it has to be, never twice`(
        location: String, target: String
    ) throws {
        #expect(try followed(decide(302, to: location)).request.url.absoluteString == target)
    }

    @Test func `a call that follows no redirect takes no 3xx, and other responses`() {
        for location in ["/b", "https://evil.net/b", nil, "ftp://x"] {
            for status in [300, 301, 302, 303, 304, 305, 307, 308, 399] {
                refused(decide(status, to: location, method: "POST", rule: .refuse))
            }
            for status in [200, 201, 204, 400, 401, 500] {
                #expect(decide(status, to: location, method: "POST", rule: .refuse) == .none)
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a call that stays within its origin follows redirects there only`(status: Int) throws {
        #expect(try followed(decide(status, to: "/b", rule: .followWithinOrigin)).request.url.path == "/b")
        for place in ["https://evil.net/b", "//api.example.com.evil.net", "https://api.example.com:8443/b"] {
            refused(decide(status, to: place, rule: .followWithinOrigin))
        }
    }

    @Test(arguments: [RedirectRule.refuse, .followWithinOrigin], [200, 401])
    func `the response of another origin, to which the transport went itself, is refused`(
        rule: RedirectRule, status: Int
    ) {
        refused(decide(status, to: nil, method: "POST", rule: rule, answeredBy: "https://evil.net/a"))
        #expect(decide(status, to: nil, rule: .follow, answeredBy: "https://evil.net/a") == .none)
    }

    @Test(
        arguments: [
            "https://evil.net/b", "https://api.example.com:8443/b", "https://api.example.com.evil.net/b",
            "https://www.example.com/b", "//evil.net/b", "http://localhost:1/b",
        ],
        [301, 302, 303, 307, 308]
    )
    func `only harmless fields are sent to another origin`(location: String, status: Int) throws {
        let headers = [
            "Authorization": "x", "accessToken": "x", "refreshToken": "x", "X-API-Key": "x", "Cookie": "x",
            "Idempotency-Key": "x", "If-None-Match": "x", "Accept": "kept", "Accept-Language": "kept",
            "User-Agent": "kept",
            // What continues a download or an event stream.
            "Range": "kept", "If-Range": "kept", "Last-Event-ID": "kept",
        ]
        let next = try followed(decide(status, to: location, headers: headers))
        #expect(next.leavesOrigin)
        #expect(next.request.headers.map(\.value) == Array(repeating: "kept", count: 6))
        let within = try followed(decide(status, to: "/b", headers: headers))
        #expect(!within.leavesOrigin && within.request.headers.count == headers.count)
    }

    @Test(arguments: [301, 302, 303])
    func `the fields of a dropped body are removed`(status: Int) throws {
        let headers = ["Content-Type": "x", "Content-Length": "1", "Content-Encoding": "x", "Accept": "kept"]
        for location in ["/b", "https://other.example.net/b"] {
            let next = try followed(decide(status, to: location, method: "POST", headers: headers, hasBody: true))
            #expect(!next.keepsBody)
            #expect(next.request.headers == ["Accept": "kept"])
        }
    }

    @Test func `a body is sent again only if it is replayable, and never to another origin`() throws {
        for (status, method) in [(307, "POST"), (308, "POST"), (301, "PUT"), (302, "PATCH")] {
            refused(decide(status, to: "https://evil.net/b", method: method, hasBody: true))
        }
        #expect(try followed(decide(307, to: "/b", method: "POST", hasBody: true)).keepsBody)
        refused(decide(307, to: "/b", method: "POST", hasBody: true, isReplayable: false), .bodyNotReplayable)
    }

    @Test(arguments: [
        (
            "no server can have its host or its port",
            [
                "http://127.0.0.1:99999/", "http://[::1]:65536/", "//127.0.0.1:99999/", "//127.0.0.1:0/", "https:///b",
                "https://127.0.0.1:12345678901234567890/", "https://[::1%25lo0]/", "https://api.example.com%00/",
                "https://" + String(repeating: "a", count: 10_000), "ftp://api.example.com/b", "file:///etc/passwd",
                "javascript:alert(1)", "data:text/plain,x",
            ]
        ), ("user information", ["https://user@api.example.com/b", "https://api.example.com@evil.net/b"]),
        ("its location is plain http", ["http://api.example.com/b", "http://evil.net/b"]),
    ])
    func `a location that no server can have, or that is not safe, is refused, with a hint if it is the server's own`(
        reason: String, locations: [String]
    ) {
        for location in locations {
            let refusal = refused(decide(302, to: location))
            #expect(refusal.contains(reason), "\(location)")
            #expect(refusal.contains("X-Forwarded-Proto") == (location == "http://api.example.com/b"))
        }
    }

    @Test func `plain http is for loopback and named origins`() throws {
        #expect(try followed(decide(302, from: "http://127.0.0.1:1/a", to: "/b")).leavesOrigin == false)
        let origin = try #require(Origin(url("http://10.0.0.1")))
        let policy = RedirectPolicy(cleartextExceptions: [origin])
        let request = HTTPRequestHead(url: url("https://api.example.com/a"))
        let head = HTTPResponseHead(status: 302, headers: ["Location": "http://10.0.0.1/b"])
        let decision = policy.decision(for: head, to: request, hasBody: false, isReplayable: true)
        #expect(try followed(decision).leavesOrigin)
    }
}
