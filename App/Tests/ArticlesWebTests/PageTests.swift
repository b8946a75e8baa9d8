import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import ProgramTesting
import Testing

@testable import ArticlesWeb

/// The pages in a browser without script, against the real server.
@Suite(.timeLimit(.minutes(20))) struct PageTests {
    @Test(.website) func `a guest signs in with a photo, reads, and publishes`() async throws {
        let login = try await site.browser.open("/")
        let labels = [#"<label for="name">"#, #"<label for="photo">"#, #"for="photo">Choose a photo</label>"#]
        for part in labels + [#"<html lang="en">"#, ##"href="#content""##] {
            #expect(login.text.contains(part), "\(part)")
        }
        let list = try await site.signIn()
        #expect(list.text.contains("<h1>Articles</h1>") && list.text.contains(#"href="/account">Ada</a>"#))
        #expect(list.text.matches(of: /<li><a href="\/articles\/[0-9]+">/).count == 12)
        #expect(list.text.contains("These are all articles."))
        let path = try #require(list.text.firstMatch(of: /\/articles\/[0-9]+/)).output
        let article = try await site.browser.open(String(path))
        #expect(article.text.contains("<article") && article.text.contains("Refresh"))

        let draft = ["title": "Hello", "text": "First\r\nline\r\n\r\nSecond"]
        #expect(try await site.browser.open("/compose").text.contains("<h1>New article</h1>"))
        let published = try await site.browser.submit("/compose/publish", draft)
        let first = try #require(published.text.firstMatch(of: /href="(\/articles\/[0-9]+)"><span[^>]*>Hello</))
        #expect(try await site.browser.open(String(first.1)).text.contains("<p>First\nline</p><p>Second</p>"))
        #expect(site.backend.statistics.registrations == 1)
    }

    @Test(.website) func `no token of the session reaches a page`() async throws {
        try await site.signIn()
        let bundle = try #require(try await site.graph.store.load())
        let secrets = [bundle.accessToken, try #require(bundle.refreshToken)]
        let events = try await site.browser.events()
        var texts = [await events.receive(until: "data: changed")]
        for path in ["/articles", "/articles/1", "/compose"] {
            let reply = try await site.browser.open(path)
            texts.append(reply.text + reply.headers.values.joined())
        }
        for text in texts { #expect(secrets.allSatisfy { !text.contains($0) }) }
    }

    @Test(.website) func `a text from the server is shown, and is never markup`() async throws {
        let hostile = [
            #"<script>alert(1)</script>"#, #""><img src=x onerror=alert(1)>"#, "\u{600}<b>joined</b>",
            "\"\u{301} autofocus onfocus=alert(1)", "</textarea><script>", "{{t.signIn}}", "{{{.}}}",
        ]
        let list = try await site.signIn(name: #"<i>"Ada"</i>"#)
        #expect(list.text.contains("&lt;i&gt;&quot;Ada&quot;&lt;/i&gt;") && !list.text.contains("<i>"))
        for text in hostile {
            let compose = try await site.browser.submit("/compose/publish", ["title": text, "text": text])
            let path = try #require(compose.text.firstMatch(of: /href="(\/articles\/[0-9]+)"/)).1
            let read = try await site.browser.open(String(path))
            _ = try await site.browser.open("/compose")
            _ = try await site.browser.post("/compose/draft", ["title": text, "text": text])
            for page in [compose, read, try await site.browser.open("/compose")] {
                #expect(page.text.utf8.contains(MarkupEscaping().escapeText(text).utf8), "\(text)")
                if text.contains("<") { #expect(!page.text.utf8.contains(text.utf8), "\(text)") }
            }
        }
    }

    @Test(.website { $0.photoBytes = 100_000 })
    func `a file that is no photo, or is too large, is refused with a reason`() async throws {
        _ = try await site.browser.open("/sign-in")
        #expect(try await site.browser.postGuest(name: "Ada", photo: Data("text".utf8)).status == 303)
        #expect(try await site.browser.open("/sign-in").text.contains("This file is not a photo."))
        let large = Data(repeating: 0, count: 3 * 1024 * 1024)
        #expect(try await site.browser.postGuest(name: "Ada", photo: large).location == "/sign-in")
        #expect(try await site.browser.open("/sign-in").text.contains("This photo is too large."))
        #expect(try await site.browser.postGuest(name: " ", photo: nil).location == "/sign-in")
        #expect(try await site.browser.open("/sign-in").text.contains("Enter a name and choose a photo."))
        #expect(site.backend.statistics.registrations == 0)
    }

    @Test(.website) func `a user signs in with a provider, and out`() async throws {
        _ = try await site.browser.open("/sign-in")
        #expect(try await site.browser.submit("/sign-in/social", ["provider": "other"]).text.contains("Sign in"))
        let list = try await site.browser.submit("/sign-in/social", ["provider": "kakao"])
        #expect(list.text.contains(#"href="/account">Grace</a>"#))
        let account = try await site.browser.open("/account").text
        #expect(account.contains(#"<p class="strong">Grace</p>"#))
        #expect(!account.contains("a guest") && !account.contains("/account/upgrade"))
        #expect(try await !site.browser.submit("/account/upgrade", ["provider": "apple"]).text.contains("HTTP 409"))
        let login = try await site.browser.submit("/sign-out")
        #expect(login.text.contains("You have signed out.") && !login.text.contains("alertdialog"))
        #expect(try await site.browser.send("GET", "/articles").location == "/sign-in")
    }

    @Test(.website) func `a guest keeps the account, and signs in again as the same user`() async throws {
        try await site.signIn()
        let account = try await site.browser.open("/account").text
        #expect(account.contains("<h1>Account</h1>") && account.contains(#"<p class="strong">Ada</p>"#))
        #expect(account.contains("Are you a guest? Add a provider"))
        let picture = try #require(account.firstMatch(of: /<img src="(\/account\/photo[^"]*)"/)).1
        let photo = try await site.browser.send("GET", String(picture))
        #expect(photo.headers["content-type"] == "image/jpeg" && photo.body.starts(with: [0xFF, 0xD8]))
        let kept = try await site.browser.submit("/account/upgrade", ["provider": "kakao"])
        #expect(kept.text.contains("This account is yours."))
        _ = try await site.browser.submit("/sign-out")
        let list = try await site.browser.submit("/sign-in/social", ["provider": "kakao"])
        #expect(list.text.contains(#"href="/account">Ada</a>"#))
        _ = try await site.browser.submit("/sign-out")
        try await site.signIn(name: "Edsger")
        _ = try await site.browser.open("/account")
        let refused = try await site.browser.submit("/account/upgrade", ["provider": "kakao"])
        #expect(refused.text.contains("HTTP 409") && refused.text.contains("belongs to another user"))
    }

    @Test(
        .website,
        arguments: [
            ("en", " ", "Enter a title and a text."), ("ko", " ", "제목과 내용을 입력해 주세요."),
            ("en", String(repeating: "x", count: 250), "Title: at most 200 characters."),
            ("ko", String(repeating: "x", count: 250), "제목: 최대 200자까지 입력할 수 있습니다."),
        ])
    func `a title that is blank or too long is refused in the user's language, with the limit`(
        language: String, title: String, text: String
    ) async throws {
        try await site.signIn()
        let editor = try await site.browser.open("/compose").text
        #expect(editor.contains(" novalidate>") && !editor.contains(" required"))
        #expect(
            try await site.browser.post("/compose/publish", ["title": title, "text": "Text"]).location == "/compose")
        let page = try await site.browser.open("/compose", ["Accept-Language": language]).text
        #expect(page.contains(#"<p class="error">\#(text)</p>"#) && page.contains(#"value="\#(title)""#))
    }

    @Test(.website) func `the limits of a title and a text are those of the server`() async throws {
        try await site.signIn()
        let title = String(repeating: "가", count: 200)
        let text = String(repeating: "x", count: 20_000)
        for draft in [ArticleDraft(title: title + "x", content: text), ArticleDraft(title: title, content: text + "x")]
        {
            await #expect(throws: (any Error).self) { try await site.graph.articles.create(draft) }
        }
        _ = try await site.browser.open("/compose")
        let list = try await site.browser.submit("/compose/publish", ["title": title, "text": text])
        #expect(list.text.contains(">\(title)<"))
    }

    @Test(
        .website,
        arguments: [
            ("en", "There is no such page", "This form has expired"), ("ko", "페이지가 없습니다", "만료된 양식입니다"),
        ])
    func `a path that does not exist and a form that has expired have a page of ours, with their status`(
        language: String, missing: String, expired: String
    ) async throws {
        try await site.signIn()
        let fields: [String: String?] = ["Accept-Language": language]
        let page = try await site.browser.send("GET", "/missing", fields)
        #expect(page.status == 404 && page.text.contains("<h1>\(missing)</h1>"))
        let form = try await site.browser.post("/compose/publish", ["form-token": "0"], fields)
        #expect(form.status == 403 && form.text.contains("<h1>\(expired)</h1>"))
        for reply in [page, form] {
            #expect(reply.text.contains(#"<html lang="\#(language)">"#) && reply.text.contains(">Ada</a>"))
            #expect(reply.text.contains("/style.css") && reply.text.contains(#"id="back" href="/articles""#))
        }
        let stranger = try await Browser(like: site.browser).send("GET", "/missing", fields)
        #expect(stranger.status == 403 && !stranger.text.contains("/style.css"))
    }

    @Test(.website { $0.actionWait = .zero })
    func `what is under way is shown, and a page without script loads itself again`() async throws {
        let gate = site.backend.hold("POST", "/auth/guest/register")
        _ = try await site.browser.open("/sign-in")
        _ = try await site.browser.postGuest(name: "Ada", photo: Website.photo())
        await gate.arrivals(1)
        let busy = try await site.browser.open("/sign-in")
        #expect(busy.text.contains("<progress") && busy.text.contains(#"<noscript><meta http-equiv="refresh""#))
        #expect(busy.text.contains("/sign-in/cancel"))
        let cancelled = try await site.browser.submit("/sign-in/cancel")
        #expect(!cancelled.text.contains("<progress") && !cancelled.text.contains("http-equiv"))
        gate.open()
    }
}
