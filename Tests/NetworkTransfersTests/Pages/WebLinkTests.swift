import Foundation
import NetworkCore
import NetworkTransfers
import TestSupport
import Testing

@Suite("Link fields")
struct WebLinkTests {
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
    func `what is no link of that relation is none`(field: String) {
        #expect(head(field).link("next") == nil)
    }

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
