import Foundation
import HTTPTypes
import Testing

@testable import ArticlesWeb

/// Who may use the pages: one browser, once it has opened the URL that was printed.
@Suite(.timeLimit(.minutes(20))) struct AccessTests {
    private static let paths = [
        "/", "/start", "/sign-in", "/articles", "/articles/1", "/compose", "/account", "/sign-in/photo", "/events",
        "/style.css", "/script.js", "/icon.svg", "/missing",
    ]

    @Test(.website(asStranger: true))
    func `the first visit exchanges the token for a cookie, and goes to a URL without it`() async throws {
        let token = try #require(site.server.url.query?.dropFirst("token=".count))
        #expect(token.count == 64)
        let host = try #require(site.server.url.host)
        #expect(host.wholeMatch(of: /articles-[0-9a-f]{32}\.localhost/) != nil)
        let reply = try await site.browser.send("GET", site.firstPath)
        #expect(reply.status == 303 && reply.location == "/")
        let cookie = try #require(reply.headers["set-cookie"])
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
        #expect(!cookie.contains(token) && !cookie.contains("Domain"), "the cookie is of that host only")
        #expect(try await site.browser.open("/").text.contains("<h1>Sign in</h1>"))
        // The token works once.
        let refused = try await Browser(like: site.browser).send("GET", site.firstPath)
        #expect(refused.status == 403 && refused.headers["set-cookie"] == nil)
        #expect(try await site.browser.send("GET", site.firstPath).location == "/")
    }

    /// A browser does not send the cookie, which is strict, with a redirect that a page of another site has caused.
    @Test(.website(asStranger: true)) func `a link on a page of another site leads to the pages`() async throws {
        let reply = try await site.browser.send("GET", site.firstPath, ["Sec-Fetch-Site": "cross-site"])
        #expect(reply.status == 200 && reply.headers["set-cookie"] != nil && reply.location == nil)
        #expect(reply.text.contains(#"http-equiv="refresh" content="0;url=/""#))
        #expect(try await site.browser.open("/", ["Sec-Fetch-Site": "same-origin"]).status == 200)
    }

    @Test(.website) func `without the cookie every path is refused, with any method`() async throws {
        _ = try await site.browser.open("/sign-in")
        let token = site.browser.formToken
        for cookie in [nil, "", "articles=", "articles=\(token)"] {
            let stranger = Browser(like: site.browser)
            stranger.cookie = cookie
            stranger.formToken = token
            for path in Self.paths {
                let reply = try await stranger.send("GET", path)
                #expect(reply.status == 403 && !reply.text.contains(token), "\(path)")
            }
            for path in ["/?token=0", "/?token="] { #expect(try await stranger.send("GET", path).status == 403) }
            for (path, _) in WebAction.all { #expect(try await stranger.post(path).status == 403) }
            #expect(try await stranger.send("HEAD", site.firstPath).status == 403)
        }
    }

    @Test(.website) func `a name that was made to resolve to this computer is refused`() async throws {
        let port = site.browser.port
        let name = try #require(site.server.url.host)
        let others = [
            "evil.example:\(port)", "127.0.0.1", "127.0.0.1:\(port)", "localhost", "localhost:\(port)",
            "[::1]:\(port)", "articles.localhost:\(port)", "x.\(name):\(port)", "\(name):1", name, "",
        ]
        for host in others {
            #expect(try await site.browser.send("GET", "/articles", ["Host": host]).status == 403, "\(host)")
        }
        #expect(try await site.browser.send("GET", "/articles", ["Host": nil]).status != 200)
        #expect(try await site.browser.open("/").status == 200)
    }

    @Test(.website) func `a request of another page is refused, with any cookie`() async throws {
        _ = try await site.browser.open("/sign-in")
        let own = "http://\(site.browser.authority)"
        for site_ in ["cross-site", "same-site"] {
            #expect(try await site.browser.send("GET", "/articles", ["Sec-Fetch-Site": site_]).status == 403)
            #expect(try await site.browser.post("/sign-out", [:], ["Sec-Fetch-Site": site_]).status == 403)
        }
        let strange: [[String: String?]] = [
            ["Origin": "http://evil.example"], ["Origin": "\(own)0"], ["Sec-Fetch-Site": "none"],
            ["Sec-Fetch-Site": nil], ["Sec-Fetch-Site": nil, "Origin": nil],
            ["Sec-Fetch-Site": nil, "Origin": "http://localhost:\(site.browser.port)"],
        ]
        for fields in strange { #expect(try await site.browser.post("/alert/dismiss", [:], fields).status == 403) }
        for fields in [["Origin": own], ["Sec-Fetch-Site": nil, "Origin": own]] {
            #expect(try await site.browser.post("/alert/dismiss", [:], fields).status == 303)
        }
    }

    /// A cookie of 127.0.0.1 is sent to every server on it. That of a name is not, and each server has its own.
    @Test func `each server has a host of its own, which leaves out the port 80`() throws {
        let guards = (0..<8).map { _ in AccessGuard() }
        #expect(Set(guards.map { $0.authority(port: 8080) }).count == 8)
        for access in guards {
            let host = access.authority(port: 80)
            #expect(host.hasSuffix(".localhost") && access.authority(port: 81) == "\(host):81")
            var request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
            request.headerFields[.cookie] = access.cookieField()
            #expect(access.decision(on: request, token: String?.none, port: 80) == .pass)
            #expect(access.decision(on: request, token: String?.none, port: 81) == .refuse)
        }
    }

    @Test(.website) func `a form without the token of the forms is refused`() async throws {
        _ = try await site.browser.open("/sign-in")
        let valid = site.browser.formToken
        let secret = String(valid.prefix { $0 != "-" })
        let others = [
            "", "0", secret, "\(secret.dropLast())-0", "\(secret)0-0", "\(secret)-", "\(secret)-x", "\(secret)-0-0",
        ]
        for token in others + [valid.uppercased()] where token != valid {
            #expect(try await site.browser.post("/alert/dismiss", ["form-token": token]).status == 403)
        }
        #expect(try await site.browser.post("/alert/dismiss").status == 303)
    }

    @Test(.website) func `every response has the strict header fields`() async throws {
        for path in Self.paths where path != "/events" {
            let reply = try await site.browser.send("GET", path)
            let policy = try #require(reply.headers["content-security-policy"], "\(path)")
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(policy.contains("form-action 'self'") && !policy.contains("unsafe"))
            #expect(reply.headers["referrer-policy"] == "no-referrer")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["cache-control"] == "no-store")
        }
    }

    @Test func `a secret is random, is compared as a whole, and is not printed`() {
        let secrets = (0..<64).map { _ in Secret() }
        #expect(Set(secrets.map(\.text)).count == 64)
        for secret in secrets {
            #expect(secret.matches(secret.text) && !secret.matches(secret.text.dropFirst()) && !secret.matches(""))
            #expect(!secret.matches(secret.text + secret.text))
            var dumped = ""
            dump(secret, to: &dumped)
            #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains(secret.text))
        }
    }
}
