import DataAPI
import DevBackend
import Foundation
import ProgramTesting
import Testing

@testable import ArticlesWeb

/// Server-sent events: a change of a model reaches the pages that are open.
@Suite struct LiveUpdateTests {
    @Test func `a page that is open gets the articles of a refresh in another tab`() async throws {
        try await Website.with { site in
            try await site.signIn()
            let events = try await site.browser.events()
            let first = await events.receive(until: "\n\n")
            #expect(first.contains("text/event-stream") && first.contains(#""location":"\/articles""#))
            try await site.createArticles(1)
            _ = try await site.browser.post("/articles/refresh")
            #expect(await events.receive(until: "Note 1").contains("Note 1"))
            try await events.close()
        }
    }

    @Test func `the progress of an upload and its end reach the page`() async throws {
        try await Website.with(Website.impatient) { site in
            _ = try await site.browser.open("/sign-in")
            let gate = site.backend.hold("POST", "/auth/guest/register", at: .beforeResponse)
            let events = try await site.browser.events(["Accept-Language": "ko"])
            _ = await events.receive(until: "\n\n")
            _ = try await site.browser.postGuest(name: "Ada", photo: Website.photo())
            #expect(await events.receive(until: "<progress").contains("업로드 중"))
            _ = await events.receive(until: "100%")
            gate.open()
            _ = await events.receive(until: #""location":"\/articles""#)
            #expect(await events.receive(until: "\n\n").contains("Ada"))
        }
    }

    @Test func `a session that ends moves every page to the login with the alert`() async throws {
        try await Website.with { site in
            try await site.signIn()
            let tabs = [try await site.browser.events(), try await site.browser.events()]
            for tab in tabs { _ = await tab.receive(until: "\n\n") }
            try await site.revoke()
            _ = try await site.browser.post("/articles/refresh")
            for tab in tabs {
                let event = await tab.receive(until: "alertdialog")
                #expect(event.contains(#""location":"\/sign-in""#))
            }
        }
    }

    @Test func `a tab that follows another one does not move it`() async throws {
        try await Website.with { site in
            try await site.signIn()
            _ = try await site.browser.open("/compose")
            #expect(try await site.browser.send("GET", "/articles/1?follow").location == "/compose?follow")
            #expect(try await site.browser.send("GET", "/compose?follow").status == 200)
            #expect(try await site.browser.send("GET", "/").location == "/compose")
        }
    }

    @Test func `a stream shows that it is alive, and there are at most as many as configured`() async throws {
        var configuration = Website.waiting
        configuration.heartbeat = .milliseconds(1)
        configuration.eventStreams = 1
        try await Website.with(configuration) { site in
            let events = try await site.browser.events()
            #expect(await events.receive(until: ":\n\n").contains("data:"))
            let second = try await site.browser.send("GET", "/events")
            #expect(second.status == 200 && !second.text.contains("data:"))
            try await events.close()
        }
    }

    @Test func `the end of the server ends the streams`() async throws {
        try await Website.with { site in
            let events = try await site.browser.events()
            _ = await events.receive(until: "\n\n")
            await site.server.stop()
            _ = await events.receiveAll()
        }
    }
}
