import Foundation
import NetworkCore
import Testing

@Suite("QueryItems")
struct QueryItemsTests {
    @Test func `nil values are left out and the order is kept`() throws {
        let cursor: Int? = nil
        let query: QueryItems = ["z": 1, "cursor": cursor, "a": true, "z": 2.5]
        #expect(try EndpointPathTests.sentURL(of: "x", query: query)?.hasSuffix("/x?z=1&a=true&z=2.5") == true)
        let none: QueryItems = ["cursor": cursor]
        #expect(none.isEmpty)
        #expect(try EndpointPathTests.sentURL(of: "x", query: none)?.hasSuffix("/x") == true)
    }

    @Test(
        arguments: [
            ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("é", "%C3%A9"), ("", ""), ("#?/", "%23%3F%2F"),
        ]
    )
    func `characters that would end a value are encoded`(value: String, encoded: String) throws {
        #expect(try EndpointPathTests.sentURL(of: "x", query: ["q": value])?.hasSuffix("/x?q=\(encoded)") == true)
    }

    @Test func `dates are written as ISO 8601`() throws {
        let date = Date(timeIntervalSince1970: 0)
        let url = try EndpointPathTests.sentURL(of: "x", query: ["since": date])
        #expect(url?.hasSuffix("/x?since=1970-01-01T00%3A00%3A00Z") == true)
    }
}
