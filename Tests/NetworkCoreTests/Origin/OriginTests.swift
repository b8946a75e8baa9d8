import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// G15 and G16.
@Suite("Origins")
struct OriginTests {
    static let own = Origin(url("https://api.example.com/api/v1"))

    @Test(arguments: [
        "https://api.example.com", "https://api.example.com/", "https://api.example.com/other/path?q#f",
        "https://API.Example.COM/x", "HTTPS://api.example.com/x", "https://api.example.com:443/x",
        "https://api.example.com./x",
    ])
    func `the same origin is written in several ways`(url text: String) throws {
        let origin = try #require(Origin(url(text)))
        #expect(origin == Self.own)
    }

    @Test(arguments: [
        "https://api.example.com.evil.net/x", "https://api.example.com@evil.net/x",
        "https://api.example.com:x@evil.net/x", "https://evil.net/api.example.com",
        "https://evil.net/?https://api.example.com", "https://evil.net#@api.example.com",
        "https://evil.net%2F@x.net", "https://example.com/x", "https://www.api.example.com/x",
        "https://api.example.com:8443/x", "HTTPS://api.example.com:8443/x",
        "http://api.example.com/x", "ftp://api.example.com/x",
        "https://api-example.com/x", "https://xapi.example.com/x", "/api/v1", "https:///x", "data:text/plain,x",
    ])
    func `what looks like an origin is another one`(url text: String) { #expect(Origin(url(text)) != Self.own) }

    @Test(arguments: [
        ("http://localhost/x", true), ("http://LOCALHOST:8080", true), ("http://localhost.:80", true),
        ("http://127.0.0.1:9", true), ("http://127.255.1.2", true), ("http://[::1]:8080/x", true),
        ("http://localhost.evil.net", false), ("http://127.0.0.1.evil.net", false), ("http://evil.net", false),
        ("http://128.0.0.1", false), ("http://127.1", false), ("http://127.0.0.256", false),
        ("http://[::2]", false), ("http://127.0.0.1@evil.net", false), ("http://localhost@evil.net", false),
        ("http://10.0.0.1", false), ("http://[::ffff:127.0.0.1]", false), ("http://0.0.0.0", false),
    ])
    func `requests are sent over plain http to loopback only`(url text: String, isAllowed: Bool) throws {
        let origin = try #require(Origin(url(text)))
        #expect(origin.allowsRequests(cleartextExceptions: []) == isAllowed)
        #expect(origin.allowsRequests(cleartextExceptions: [origin]))
        // An exception is for one origin only.
        let other = try #require(Origin(url("http://10.0.0.1:8081")))
        #expect(origin.allowsRequests(cleartextExceptions: [other]) == isAllowed)
    }

    @Test(arguments: [
        "http://127.0.0.1:65536/", "http://127.0.0.1:99999", "http://localhost:99999/x", "http://127.0.0.1:0/",
        "http://127.0.0.1:000/", "http://127.0.0.1:12345678901234567890/", "http://127.0.0.1:18446744073709551697/",
        "http://[::1]:99999/", "http://[::1]:65536", "HTTP://127.0.0.1:99999/", "http://user@127.0.0.1:99999/",
        "http://127.0.0.1:100000?x", "http://127.0.0.1:100000#x", "https://example.com.:65536/",
        "http://[::1%25lo0]/", "http://[fe80::1%25eth0]:80/", "http://[v1.x]/", "http://[]/", "http://:80/",
        "http://@/", "http://127.0.0.1%00.example.com/", "http://%31%32%37.0.0.1/", "http://a%2Fb/", "http://a%40b/",
        "http://a%20b/", "http://.", "https://example.com%0d%0a/",
    ])
    func `a URL whose host or port no server can have has no origin`(url text: String) {
        // Foundation refuses some of them itself.
        guard let url = URL(string: text) else { return }
        #expect(Origin(url) == nil)
    }

    @Test(arguments: [
        "http://127.0.0.1:+80/", "http://127.0.0.1:-1/", "http://127.0.0.1:8 0/", "http://127.0.0.1:\u{663}/",
        "http://a\0b/", "http://a b/", "http://[::1/", "http://127.0.0.1:80:90/", "http://127.+0.0.1/",
    ])
    func `what is no URL, or no loopback address, gets no token`(url text: String) {
        guard let url = URL(string: text), let origin = Origin(url) else { return }
        #expect(!origin.isLoopback)
    }

    @Test func `the name of a host has a longest length`() throws {
        for (count, isName) in [(Origin.longestHost, true), (Origin.longestHost + 1, false), (10_000, false)] {
            for prefix in ["https://", "HTTPS://"] {
                let url = try #require(URL(string: prefix + String(repeating: "a", count: count) + "/"))
                #expect((Origin(url) != nil) == isName)
            }
        }
    }

    @Test(arguments: [
        ("http://1.2.3.4:080/", 80), ("HTTP://1.2.3.4:0080/", 80), ("http://1.2.3.4:1", 1),
        ("http://[::1]:65535/", 65_535),
        ("https://example.com:65535?x", 65_535), ("https://example.com:/", 443), ("HTTPS://example.com:#x", 443),
    ])
    func `a port may be any that a server can have`(url text: String, port: Int) throws {
        #expect(try #require(Origin(url(text))).port == port)
    }

    @Test(arguments: [
        ("https://API.example.com:443/x", "https://api.example.com"), ("http://[::1]:80", "http://[::1]"),
        ("http://localhost:8080", "http://localhost:8080"), ("https://x.net:80", "https://x.net:80"),
    ])
    func `an origin is described as a URL`(url text: String, description: String) {
        #expect(Origin(url(text))?.description == description)
    }

    /// The short way to read an origin must never differ from the parser.
    @Test(arguments: [
        "https://api.example.com", "http://127.0.0.1:8080/x?y#z", "https://a-b.example.com:443/",
        "https://example.com?x", "HTTPS://EXAMPLE.com/", "https://example.com./", "https://user@example.com/",
        "https://a.com@evil.net/",
        "https://a.com%40evil.net/", "https://a.com\\@evil.net/", "https://[::1]:8080/", "https://.example.com/",
        "https://example.com:99999/", "https://example.com:/", "https://ex%61mple.com/", "https://b\u{FC}cher.example/",
        "https:/example.com", "https:example.com", "ftp://example.com", "https://", "httpsx://example.com",
        "https://-a.com/",
    ])
    func `an origin read in the short way is the one that the URL parser reads`(text: String) {
        guard let url = URL(string: text) else { return }
        guard let origin = Origin(url) else { return }
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        #expect(origin.scheme == parts?.scheme?.lowercased())
        let host = parts?.host?.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]")) ?? ""
        #expect(origin.host == (host.hasSuffix(".") ? String(host.dropLast()) : host))
        #expect(origin.port == parts?.port ?? (origin.isCleartext ? 80 : 443))
    }
}
