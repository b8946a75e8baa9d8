import ArticlesWeb
import AuthInterface
import DevBackend
import Foundation
import NetworkCore
import ProgramTesting
import Testing

@testable import articles

/// The page of `--report`. `make check-report` looks at it in a browser.
@Suite(.home) struct ReportTests {
    @Test(.signedIn)
    func `the page of a command names each request, the refusal and the refresh that served it`() async throws {
        let title = #"<script>alert(1)</script>"'&\#u{202E}"#
        #expect(try await home.run(["create", "--title", title, "--body", "b"] + base).status == 0)
        let bundle = try await home.tokens(of: backend)
        try await backend.expireAccessTokens()
        let path = home.location("page.html")
        #expect(try await home.run(["list", "--report", path] + base).status == 0)
        #expect(try home.mode(of: path) == 0o600)
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("<h1>articles list</h1>"))
        #expect(page.contains(##"<a href="#call-2">refresh 2</a> served it"##))
        #expect(page.contains("it served 1 refused request"))
        #expect(page.contains("401 → 200"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the title is in a body, as text")
        #expect(!page.contains("alert(1)</script>") && !page.contains("\u{202E}"))
        #expect(page.components(separatedBy: "<script").count == 2, "the only script is the page's own")
        for token in [bundle.accessToken, bundle.refreshToken ?? ""] { #expect(!page.contains(token)) }
    }

    @Test func `nothing is loaded, and no style is in an attribute`() {
        let page = Self.page(spans: []).html
        #expect(page.contains("default-src &#39;none&#39;; style-src &#39;sha256-"))
        for text in ["http://", "https://", " src=", "style=", "onclick", "@import", "url("] {
            #expect(!page.replacing("https://api.example.com", with: "").contains(text), "\(text)")
        }
    }

    @Test func `only a refusal that another attempt follows is about the token`() {
        func call(_ statuses: Int...) -> CallSpan {
            let attempts = statuses.enumerated().map { index, status in
                CallSpan.Attempt(start: .milliseconds(index * 2), end: .milliseconds(index * 2 + 1), status: status)
            }
            return CallSpan(
                method: "GET", path: "a", start: .zero, end: .seconds(1), attempts: attempts, hasSucceeded: true)
        }
        let page = Self.page(spans: [call(403), call(429, 200), call(503, 200), call(419, 200), call(498, 200)])
        #expect(page.calls.map(\.isRefused) == [false, false, false, true, true])
        #expect(page.calls.map(\.isRetried) == [false, true, true, false, false])
        #expect(page.html.components(separatedBy: "<td>token refused</td>").count == 3)
    }

    @Test func `a number above the limit is stated, and every call has a place`() {
        let spans = (0..<ReportPage.limit + 7).map {
            CallSpan(
                method: "GET", path: "a", start: .milliseconds($0), end: nil,
                attempts: [CallSpan.Attempt(start: .milliseconds($0), end: nil, status: nil)], hasSucceeded: false)
        }
        let page = Self.page(spans: spans).html
        #expect(page.contains("7 more requests are not listed") && page.contains("not ended"))
        #expect(page.components(separatedBy: "class=\"call ").count == ReportPage.limit + 1)
        #expect(!page.contains("nan") && !page.contains("inf\""))
    }

    private static func page(spans: [CallSpan]) -> ReportPage {
        ReportPage(
            title: "articles list", baseURL: "https://api.example.com", startedAt: Date(), spans: spans,
            exchanges: [], omitted: 0)
    }
}
