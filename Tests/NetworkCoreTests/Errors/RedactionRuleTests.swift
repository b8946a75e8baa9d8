import Foundation
import NetworkRecording
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G17: the rules by which a secret is found: value, name and shape.
@Suite struct RedactionRuleTests {
    static let secret = "s3cret/Token+0=1 \"<&é"

    @Test(arguments: [
        secret, "s3cret%2FToken%2B0%3D1%20%22%3C%26%C3%A9", "s3cret%2fToken%2b0%3d1+%22%3c%26%c3%a9",
        "s3cret%252FToken%252B0%253D1%2520%2522%253C%2526%25C3%25A9", #"s3cret\/Token+0=1 \"<&é"#,
        #"s3cret\/Token\u002b0=1 \u0022\u003c\u0026\u00e9"#, "s3cret/Token&#43;0=1 &quot;&lt;&amp;é",
        "s3cret/Token+0=1 &#x22;&lt;&#38;é",
    ])
    func `a secret is found in every form in which a server quotes it`(quoted: String) {
        let redaction = Redaction(secrets: [Self.secret])
        #expect(redaction.text("no '\(quoted)' here") == "no 'redacted' here")
    }

    @Test func `a short secret is replaced as a word, and one under the limit is none`() {
        #expect(Redaction(secrets: ["12"]).text("id 12 of 123") == "id 12 of 123")
        #expect(Redaction(secrets: ["1234567"]).text("id 1234567.") == "id redacted.")
        #expect(Redaction(secrets: ["1234567"]).text("id 12345678").hasPrefix("redacted (11 bytes, #"))
        #expect(Redaction(secrets: ["12345678"]).text("id 123456789") == "id redacted9")
    }

    static let webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    static let opaque = "Aa0" + String(repeating: "Zk3xW9qP", count: 5)

    @Test(arguments: [
        ("token \(webToken).", "token redacted"), ("Bearer=\(webToken)!", "Bearer=redacted!"),
        ("x.\(webToken)", "x.redacted"), ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", "redacted"),
        ("(\(opaque))", "(redacted)"), ("/files/\(opaque)/x", "/files/redacted/x"),
        ("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "key redacted"),
    ])
    func `tokens are found by their shape`(text: String, shown: String) {
        #expect(Redaction.standard.text(text) == shown)
    }

    @Test(arguments: [
        "da39a3ee5e6b4b0d3255bfef95601890afd80709", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709da39a3ee",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "3F2504E0-4F89-41D3-9A0C-0305E82C3301-3f2504e0",
        "NetworkCore.HTTPTransportError.ConnectionFailed1.SomethingElse2.AndMore3",
        "https://api.example.com/api/v1/Organisations/Departments/Employees/42/Articles",
        "all-small-letters-and-digits-0123456789-and-nothing-else", "eyJust.two", "e.g. 1.2.3",
        "The quick brown fox jumps over the lazy dog 0123456789 times",
    ])
    func `text that is no token stays`(text: String) { #expect(Redaction.standard.text(text) == text) }

    @Test(arguments: ["code_verifier", "SAMLResponse", "subscription-key", "some-name-of-an-API"])
    func `the value of a query item is shown only under a harmless name`(name: String) {
        let link = url("https://x.net/a?\(name)=canary&limit=20&q=tea%20pot&cursor=abc")
        #expect(Redaction.standard.url(link) == "https://x.net/a?\(name)=redacted&limit=20&q=tea%20pot&cursor=abc")
        #expect("\(QueryItems(dictionaryLiteral: (name, "canary"), ("limit", 20)))" == "\(name)=redacted&limit=20")
    }

    @Test(arguments: [
        ("/files/photos%2F\(opaque)", "/files/photosredacted"), ("/%4\(webToken)", "/redacted"),
        ("/a?cursor=ab%2B\(opaque)", "/a?cursor=abredacted"),
        ("/a?q=a%20\(opaque)&x%2F\(opaque)", "/a?q=aredacted&redacted"),
        ("/%41very-secret/%4eecret-0123", "/%41redacted/redacted"), ("/a?3q9Zk1mPw7xy", "/a?redacted"),
        ("/a?wsdl&no-cache", "/a?wsdl&no-cache"),
    ])
    func `a URL whose secret begins in a percent-encoded byte can be shown`(path: String, shown: String) throws {
        let link = try #require(URL(string: "https://x.net\(path)"))
        let redaction = Redaction(secrets: ["very-secret", "eecret-0123"])
        #expect(redaction.url(link) == "https://x.net\(shown)")
        #expect(redaction.url(url("https://user:pw@[::1]:8080/a#b")) == "https://[::1]:8080/a")
        #expect(redaction.url(url("file:///tmp/a")) == "file:///tmp/a")
    }

    @Test func `the first secrets count where there are many`() {
        let others = (0..<200).map { String(repeating: "other secret \($0) ", count: 5) }
        #expect(Redaction(secrets: ["very-secret"] + others).text("very-secret") == "redacted")
    }

    @Test(arguments: [
        (#"{"data":{"refreshToken":"0123456789abcdef","a":"#, #"{"data":{"refreshToken":"redacted","a":"#),
        (#"{"token":"cut sh"#, #"{"token":"redacted"#), (#"{"otp" : 123456, "n": 1"#, #"{"otp" : redacted, "n": 1"#),
        ("{\"a\":1}\n{\"access_token\":\"abc\\\"d\"}", "{\"a\":1}\n{\"access_token\":\"redacted\"}"),
        (#"data: {"token":"abc"}"#, #"data: {"token":"redacted"}"#),
        (#"5" of {"pin":"1234"}"#, #"5" of {"pin":"redacted"}"#),
        (#"{"code":"NOT_FOUND","code":404,"author":"x","#, #"{"code":"NOT_FOUND","code":404,"author":"x","#),
        (#"""#, #"""#), (#"{"token":null,"token":[],"token":"#, #"{"token":null,"token":[],"token":"#),
        (#"{"tokens":["abc", "d\"e", 12],"n":3,"#, #"{"tokens":["redacted", "redacted", redacted],"n":3,"#),
        (
            #"{"token":{"a":"x","b":[1,{"c" : "y"}]},"n":3,"#,
            #"{"token":{"a":"redacted","b":[redacted,{"c" : "redacted"}]},"n":3,"#
        ),
        (#"{"tokens":["",true,null,-1.5e3],"n":3,"#, #"{"tokens":["",true,null,redacted],"n":3,"#),
        (#"{"tokens":["cut sh"#, #"{"tokens":["redacted"#), (#"{"tokens":[[["#, #"{"tokens":[[["#),
        (#"{"tokens":}],"pin":"1234""#, #"{"tokens":}],"pin":"redacted""#),
    ])
    func `JSON that is not whole shows no text under the name of a secret`(text: String, shown: String) {
        for type in ["application/json", "application/x-ndjson", "text/event-stream", "text/html"] {
            #expect(Redaction.standard.body(Data(text.utf8), contentType: type) == shown)
        }
    }

    @Test(arguments: [
        ("https://x.net/a?token=canary", "https://x.net/a?token=redacted"),
        ("https://x.net/a?access_token=canary&page=2", "https://x.net/a?access_token=redacted&page=2"),
        ("https://x.net/a?apiKey=canary", "https://x.net/a?apiKey=redacted"),
        ("https://x.net/a?code=canary&state=1", "https://x.net/a?code=redacted&state=redacted"),
        ("https://x.net/a?X-Amz-Signature=canary", "https://x.net/a?X-Amz-Signature=redacted"),
        ("https://user:canary@x.net/a", "https://x.net/a"), ("https://x.net/a#access_token=canary", "https://x.net/a"),
        ("https://x.net/a?postcode=1&limit=20", "https://x.net/a?postcode=redacted&limit=20"),
        ("https://x.net/a%2Fb?q=%26", "https://x.net/a%2Fb?q=%26"),
        ("https://x.net/reset-password/8f3k2m9x", "https://x.net/reset-password/redacted"),
        ("https://x.net/magic-link/8f3k2m9x/go", "https://x.net/magic-link/redacted/go"),
        ("https://x.net/a;jsessionid=0123;v=1", "https://x.net/a;jsessionid=redacted;v=1"),
        ("https://x.net/x/\(opaque)", "https://x.net/x/redacted"),
        ("https://x.net/auth/refresh", "https://x.net/auth/refresh"),
        ("https://x.net/oauth2/token/revoke", "https://x.net/oauth2/token/revoke"),
        ("https://x.net/articles/12345678", "https://x.net/articles/12345678"),
        ("https://x.net/a%2Fb/c", "https://x.net/a%2Fb/c"),
    ])
    func `a URL is shown without its secrets`(text: String, shown: String) {
        #expect(RequestSummary(method: .get, url: url(text)).url == shown)
    }

    @Test func `entity tags and identifiers of requests and traces stay legible`() {
        for name in ["ETag", "X-Request-ID", "traceparent", "If-None-Match"] {
            #expect(Redaction.standard.fieldValue(Self.opaque, named: name) == Self.opaque)
        }
        for name in ["Authorization", "Set-Cookie", "X-API-Key", "Proxy-Authorization", "X-Goog-Signature"] {
            #expect(Redaction.standard.fieldValue("canary", named: name) == "redacted")
        }
        for (name, value, shown) in [
            ("Location", "https://x.net/?t=1", "https://x.net/?t=redacted"),
            (
                "Link", #"</a?page=2&t=1>; rel="next", <https://x.net/?t=2>; rel=last"#,
                #"</a?page=2&t=redacted>; rel="next", <https://x.net/?t=redacted>; rel=last"#
            ), ("Accept", "text/html; charset=utf-8", "text/html; charset=utf-8"),
            ("Operation-Location", "https://x.net/7?sig=canary12", "https://x.net/7?sig=redacted"),
            ("X-Path", "/articles/7?page=2", "/articles/7?page=2"),
        ] {
            #expect(Redaction.standard.fieldValue(value, named: name) == shown)
        }
    }

    @Test func `the fields that a redirect or an interceptor leaves out are secrets of the request too`() async throws {
        let leaving = AdaptingInterceptor { try $0.setting("X-API-Key", to: nil) }
        let elsewhere = StubResponse.redirect(to: "https://other.example/7")
        let redirected = RequestRecorder(next: StubTransport(responding: elsewhere, .status(204)))
        let adapted = RequestRecorder(next: StubTransport(responding: .status(204)))
        let call = Endpoint<Void>.get("x").header("X-API-Key", "api-key-1")
        try await NetworkClient(redirected).send(call)
        try await NetworkClient(adapted, interceptors: [leaving]).send(call)
        let sent = redirected.next.requests + adapted.next.requests
        #expect(sent.map { $0.headers["X-API-Key"] } == ["api-key-1", nil, nil])
        let seen = (redirected.requests.values + adapted.requests.values).map { Redaction(of: $0).text("<api-key-1>") }
        #expect(seen == ["<redacted>", "<redacted>", "<redacted>"])
    }

    @Test(arguments: [
        (
            #"{"accessToken":"a","list":[{"password":1}],"code":"NOT_FOUND","title":"Tea","n":2}"#,
            "application/problem+json",
            #"{"accessToken":"redacted","code":"NOT_FOUND","list":[{"password":"redacted"}],"n":2,"title":"Tea"}"#
        ),
        (
            #"{"file":"https://x.net/a?page=2&X-Amz-Signature=0a1b2c3d","next":"HTTP://x.net/a?t=1","no":"https://%"}"#,
            "application/json",
            #"{"file":"https://x.net/a?page=2&X-Amz-Signature=redacted","next":"HTTP://x.net/a?t=redacted","no":"https://%"}"#
        ),
        (
            "grant_type=refresh_token&refresh_token=abc&x=1", "application/x-www-form-urlencoded",
            "grant_type=refresh_token&refresh_token=redacted&x=1"
        ),
    ])
    func `a body is shown without the values under sensitive names`(body: String, type: String, shown: String) {
        #expect(Redaction.standard.body(Data(body.utf8), contentType: type) == shown)
        #expect(Redaction.standard.body(Data([0xFF, 0xD8]), contentType: "image/jpeg") == nil)
    }
}
