import NetworkCore
import Testing

@Suite("HTTPHeaders")
struct HTTPHeadersTests {
    @Test func `the case of names is ignored`() {
        var headers: HTTPHeaders = ["Content-Type": "a"]
        #expect(headers["content-type"] == "a")
        headers["CONTENT-TYPE"] = "b"
        #expect(headers["Content-Type"] == "b")
        #expect(headers.names == ["Content-Type"])
        headers["content-Type"] = nil
        #expect(headers.isEmpty)
    }

    @Test func `values of the same name are joined`() {
        let headers = HTTPHeaders([("Via", "a"), ("X", "1"), ("via", "b")])
        #expect(headers["Via"] == "a, b")
        #expect(headers.names == ["Via", "X"])
    }

    @Test func `only ASCII letters have case`() {
        let headers: HTTPHeaders = ["\u{212A}ey": "kelvin"]
        #expect(headers["key"] == nil)
        #expect(headers["[a"] == nil)
    }
}
