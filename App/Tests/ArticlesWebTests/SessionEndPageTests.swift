import Testing

@testable import ArticlesWeb

@Suite(.timeLimit(.minutes(20))) struct SessionEndPageTests {
    @Test(.website) func `a session that ends shows one alert with its reason, and the login returns to the article`()
        async throws
    {
        let list = try await site.signInAsGrace()
        let path = String(try #require(list.text.firstMatch(of: /\/articles\/[0-9]+/)).output)
        _ = try await site.browser.open(path)
        try await site.revoke()
        let login = try await site.browser.submit("\(path)/refresh")
        #expect(login.text.matches(of: /role="alertdialog"/).count == 1)
        #expect(login.text.contains("The server has ended your session.") && login.text.contains("HTTP 401"))
        #expect(try await site.browser.send("GET", path).location == "/sign-in")
        let dismissed = try await site.browser.submit("/alert/dismiss")
        #expect(!dismissed.text.contains("alertdialog") && dismissed.text.contains("<h1>Sign in</h1>"))
        #expect(try await !site.browser.open("/sign-in").text.contains("alertdialog"))
        #expect(try await site.browser.post("/sign-in/social", ["provider": "apple"]).location == path)
        #expect(try await site.browser.open(path).text.contains("<article"))
    }

    @Test(.website) func `a draft of before the end is there after the login`() async throws {
        _ = try await site.signInAsGrace()
        _ = try await site.browser.open("/compose")
        try await site.revoke()
        let login = try await site.browser.submit("/compose/publish", ["title": "Kept", "text": "<Draft>"])
        #expect(login.text.contains("alertdialog") && !login.text.contains("Kept"))
        let editor = try await site.browser.submit("/sign-in/social", ["provider": "apple"])
        #expect(editor.text.contains(#"value="Kept""#) && editor.text.contains("\n&lt;Draft&gt;</textarea>"))
        let list = try await site.browser.submit("/compose/publish", ["title": "Kept", "text": "<Draft>"])
        #expect(list.text.matches(of: /row-title">Kept</).count == 1)
    }

    @Test(.website) func `another user sees neither place nor draft of the one before`() async throws {
        try await site.signIn()
        _ = try await site.browser.open("/compose")
        _ = try await site.browser.post("/compose/draft", ["title": "Private", "text": "Text"])
        try await site.revoke()
        _ = try await site.browser.submit("/compose/publish", ["title": "Private", "text": "Text"])
        let list = try await site.browser.submit("/sign-in/social", ["provider": "apple"])
        #expect(list.text.contains("<h1>Articles</h1>"))
        #expect(try await !site.browser.open("/compose").text.contains("Private"))
    }

    /// G23: another window still shows the editor of the user before.
    @Test(.website) func `what one user has typed is not published as the next one`() async throws {
        try await site.signIn()
        _ = try await site.browser.open("/compose")
        let former = site.browser.formToken
        _ = try await site.browser.submit("/sign-out")
        _ = try await site.browser.submit("/sign-in/social", ["provider": "apple"])
        let editor = try await site.browser.open("/compose")
        let draft = try #require(editor.text.firstMatch(of: /name="draft" value="([^"]+)"/)).1
        let fields = ["form-token": former, "draft": String(draft), "title": "Private", "text": "Text"]
        for path in ["/compose/draft", "/compose/publish", "/account/upgrade", "/sign-out"] {
            #expect(try await site.browser.post(path, fields).location == "/compose")
        }
        #expect(try await !site.browser.open("/compose").text.contains("Private"))
        #expect(try await !site.browser.open("/articles").text.contains("Private"))
    }
}
