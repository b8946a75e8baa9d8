import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import NetworkTransfers
import NetworkURLSession
import TestSupport
import Testing

@Suite("Lists in pages", .timeLimit(.minutes(10)))
struct PagedSequenceTests {
    let servers = LoopbackServers()

    func read<Item, Cursor>(_ pages: PagedSequence<Item, Cursor>) async throws -> [Item] {
        try await pages.reduce(into: []) { $0.append($1) }
    }

    static func page(_ items: String, next: String?) -> LoopbackServer.Action {
        let link = next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:]
        return .json(items, headers: link)
    }

    @Test func `pages are followed by their links, each fetched when it is needed`() async throws {
        let server = try servers.start { request in
            switch request.target {
            case "/items?limit=2": Self.page("[1,2]", next: "/items?page=2")
            case "/items?page=2": Self.page("[]", next: "?page=3")
            case "/items?page=3": Self.page("[3]", next: nil)
            default: .respond(404)
            }
        }
        let endpoint = Endpoint<[Int]>.get("items", query: ["limit": 2]).header("X-Key", "k")
        var iterator = server.client.pages(endpoint).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        #expect(server.requests.count == 1)
        #expect(try await read(server.client.pages(endpoint)) == [1, 2, 3])
        #expect(server.requests.allSatisfy { $0["X-Key"] == "k" })
    }

    @Test func `a double has a stub for each page, and the page that is not read is left`() async throws {
        let network = StubNetworkService()
        let endpoint = Endpoint<[Int]>.get("items/\(secret: "canary-1")", query: ["limit": 2])
        for _ in 0..<2 { network.on(endpoint, pages: [[1, 2], [], [3]]) }
        #expect(try await read(network.pages(endpoint)) == [1, 2, 3])
        var iterator = network.pages(endpoint).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        #expect(network.leftovers.count == 2 && network.calls.count == 4)
        network.removeStubs()
    }

    @Test func `G17: the secret of a path is none of the link's either, though the server quotes it`() async throws {
        let server = try servers.start { request in
            request.target.hasSuffix("2") ? .respond(500) : Self.page("[1]", next: "/links/canary-1/items?page=2")
        }
        let endpoint = Endpoint<[Int]>.get("links/\(secret: "canary-1")/items")
        let error = try #require(await networkError { try await read(server.client.pages(endpoint)) })
        #expect(server.requests.map(\.target).last == "/links/canary-1/items?page=2")
        #expect(!"\(error) \(String(describing: error.request))".contains("canary"))
    }

    @Test func `a next page of another origin is refused`() async throws {
        let other = try servers.start { _ in Self.page("[3]", next: nil) }
        let server = try servers.start { _ in Self.page("[1]", next: "\(other.url)/items") }
        let error = try #require(
            await networkError { try await read(server.client.pages(Endpoint<[Int]>.get("items"))) })
        #expect(error.code == .redirectRefused && other.requests.isEmpty)
    }

    @Test func `a next page of the same server over plain http is refused with a hint`() async throws {
        let link = "<http://api.example.com/items?page=2>; rel=\"next\""
        let transport = StubTransport(.any ~> .status(200, headers: ["Link": link], body: Data("[1]".utf8)))
        let client = NetworkClient(baseURL: url("https://api.example.com"), transport: transport)
        let error = try #require(await networkError { try await read(client.pages(Endpoint<[Int]>.get("items"))) })
        #expect(error.code == .redirectRefused && error.reason?.contains("X-Forwarded-Proto") == true)
    }

    @Test(
        arguments: [
            "</items?page=2; rel=next", "</items?page=2>; rel=\"next", "<http://[x>; rel=next",
            String(repeating: "</a>; rel=a, ", count: 1_000) + "</items?page=2>; rel=next",
        ])
    func `LE7: a link that cannot be read is no end of the list`(link: String) async throws {
        let transport = StubTransport(.any ~> .status(200, headers: ["Link": link], body: Data("[1]".utf8)))
        let client = NetworkClient(baseURL: url("https://api.example.com"), transport: transport)
        let error = try #require(await networkError { try await read(client.pages(Endpoint<[Int]>.get("items"))) })
        #expect(error.code == .decodingFailed)
    }

    @Test func `a redirected page does not lead the endpoint's fields to the origin that it names`() async throws {
        let other = try servers.start { _ in Self.page("[1]", next: "/items?page=2") }
        let server = try servers.start { request in
            request.target == "/linked"
                ? Self.page("[0]", next: "/items")
                : .respond(302, headers: ["Location": "\(other.url)/items"])
        }
        let network: [any NetworkService] = [server.client, server.client.authenticated(by: ScriptedTokenProvider())]
        for network in network {
            for path in ["items", "linked"] {
                let endpoint = Endpoint<[Int]>.get("\(path)").header("X-Key", "k")
                #expect(await networkError { try await read(network.pages(endpoint)) }?.code == .redirectRefused)
            }
        }
        #expect(other.requests.count == 4)
        #expect(other.requests.allSatisfy { $0["X-Key"] == nil })
    }

    @Test func `a redirected page may name the origin that was requested`() async throws {
        let base = Locked<URL?>(nil)
        let other = try servers.start { _ in
            Self.page("[1]", next: base.withLock { $0 }.map { "\($0)/items?page=2" })
        }
        let server = try servers.start { request in
            request.target == "/items"
                ? .respond(302, headers: ["Location": "\(other.url)/items"]) : Self.page("[2]", next: nil)
        }
        base.withLock { $0 = server.url }
        #expect(try await read(server.client.pages(Endpoint<[Int]>.get("items"))) == [1, 2])
    }

    @Test func `all pages are of one session`() async throws {
        let provider = ScriptedTokenProvider()
        let server = try servers.start { _ in
            provider.set(.success(.ofAnotherSession))
            return Self.page("[1]", next: "?page=2")
        }
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport()).authenticated(by: provider)
        let error = try #require(await networkError { try await read(network.pages(Endpoint<[Int]>.get("items"))) })
        #expect(error.code == .sessionEnded && server.requests.count == 1)
    }

    @Test func `pages that form a loop, or do not end, are an error after the items of the last page that is allowed`()
        async throws
    {
        let three = PagedSequence<Int, Int>(maximumPages: 3) { cursor in
            ([cursor ?? 0], next: cursor == 2 ? nil : (cursor ?? 0) + 1)
        }
        #expect(try await read(three) == [0, 1, 2])
        let endless = PagedSequence<Int, Int>(maximumPages: 1) { cursor in ([1, 2], next: (cursor ?? 0) + 1) }
        let loop = PagedSequence<Int, Int> { _ in ([1, 2], next: 7) }
        let empty = PagedSequence<Int, Int> { cursor in ([], next: ((cursor ?? 0) + 1) % 3) }
        for (pages, items) in [(endless, [1, 2]), (loop, [1, 2, 1, 2]), (empty, [])] {
            var iterator = pages.makeAsyncIterator()
            for item in items { #expect(try await iterator.next() == item) }
            for _ in 0..<2 {
                #expect(await networkError { try await iterator.next() }?.code == .decodingFailed)
            }
        }
    }

    @Test func `after an error the same page is fetched again`() async throws {
        let cursors = Recorder<Int?>()
        let pages = PagedSequence<Int, Int> { cursor in
            cursors.record(cursor)
            if cursors.values.count == 2 { throw NetworkError(.timedOut) }
            return ([cursor ?? 0], next: cursor == 1 ? nil : 1)
        }
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(try await iterator.next() == 1)
        #expect(try await iterator.next() == nil && cursors.values == [nil, 1, 1])
    }

    // MARK: Link fields

    func head(_ fields: String...) -> HTTPResponseHead {
        let headers = HTTPHeaders(fields.map { ("Link", $0) })
        return HTTPResponseHead(status: 200, headers: headers, url: url("https://api.example.com/v1/items?page=1"))
    }

    @Test(
        arguments: [
            "<https://api.example.com/v1/items?page=2>; rel=\"next\"", "</v1/items?page=2>;rel=next",
            "<?page=2>; rel=\"prefetch NEXT\"", "<x>; rel=prev, <?page=2>; title=\"a, b; <c>\"; rel=\"next\"",
            " , ,<?page=2> ; rel = next ; rel=prev", "<?page=3>; rel=next; anchor=\"/x\", <?page=2>; rel=next",
            "junk \"a,b\" , <?page=2>; rel=next", "<x>; rel=\"n\\ext\\\\\", <?page=2>; crossorigin; rel=next",
        ])
    func `the next page is found`(field: String) {
        #expect(head(field).link("next") == url("https://api.example.com/v1/items?page=2"))
    }

    @Test(arguments: [
        "", "<>", "<x; rel=next", "<x>; rel=\"next", "x; rel=next", "<x>; title=next", "<x>", "<x>, rel=next",
    ])
    func `what is no link of that relation is none`(field: String) { #expect(head(field).link("next") == nil) }

    @Test func `a target is encoded where it has to be, and never twice`() {
        let next = head("</articles?q=caf%C3%A9 été&page=2>; rel=\"next\"").link("next")
        #expect(next?.absoluteString == "https://api.example.com/articles?q=caf%C3%A9%20%C3%A9t%C3%A9&page=2")
    }

    @Test func `several fields are one list, and parameters are decoded`() {
        let links = head("<a>; rel=one; title*=UTF-8''%e2%82%ac", "<b>; rel=two; Title=\"x\"").links
        #expect(links.map(\.target) == ["a", "b"] && links.map(\.relations) == [["one"], ["two"]])
        #expect(links.map(\.parameters) == [["title*": "€"], ["title": "x"]])
    }
}
