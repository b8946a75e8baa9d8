import Composition
import DataAPI
import DevBackend
import Foundation
import ProgramTesting
import Testing

@testable import ArticlesWeb

/// Server-sent events: a change of a model reaches the pages that are open.
@Suite(.timeLimit(.minutes(20))) struct LiveUpdateTests {
    /// What an open page shows after its next changes, once that has a text: the script asks for it as this does.
    private func update(of events: RawConnection, until text: String) async throws -> String {
        while true {
            _ = await events.receive(until: "data: changed\n\n")
            let page = try await site.browser.open("/articles?live").text
            if page.contains(text) { return page }
        }
    }

    @Test(.website) func `a page that is open gets the articles of a refresh in another tab`() async throws {
        try await site.signIn()
        let events = try await site.browser.events()
        #expect(await events.receive(until: "data: changed\n\n").contains("text/event-stream"))
        try await site.graph.articles.create(ArticleDraft(title: "Note 1", content: "Text"))
        _ = try await site.browser.post("/articles/refresh")
        _ = try await update(of: events, until: "Note 1")
        try await events.close()
    }

    @Test(.website) func `a session that ends moves every page to the login with the alert`() async throws {
        try await site.signIn()
        let tabs = [try await site.browser.events(), try await site.browser.events()]
        for tab in tabs { _ = await tab.receive(until: "\n\n") }
        try await site.revoke()
        _ = try await site.browser.post("/articles/refresh")
        for tab in tabs {
            let page = try await update(of: tab, until: "alertdialog")
            #expect(page.contains(#"data-location="/sign-in""#))
        }
    }

    @Test(.website) func `a tab that follows another one does not move it`() async throws {
        try await site.signIn()
        _ = try await site.browser.open("/compose")
        #expect(try await site.browser.send("GET", "/articles/1?follow").location == "/compose?follow")
        #expect(try await site.browser.send("GET", "/articles/1?live").location == "/compose?live")
        #expect(try await site.browser.send("GET", "/compose?follow").status == 200)
        #expect(try await site.browser.send("GET", "/").location == "/compose")
    }

    @Test(.website) func `the end of the server ends the streams`() async throws {
        let events = try await site.browser.events()
        _ = await events.receive(until: "\n\n")
        await site.server.stop()
        _ = await events.receiveAll()
    }
}
