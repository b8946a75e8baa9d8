import NetworkCore
import TestSupport
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

    @Test func `repeated names stay apart and in order`() throws {
        var headers = HTTPHeaders([("Set-Cookie", "a=1, x"), ("Via", "a"), ("set-cookie", "b=2")])
        #expect(headers.values(of: "SET-COOKIE") == ["a=1, x", "b=2"])
        #expect(headers.map(\.name) == ["Set-Cookie", "Via", "set-cookie"])
        #expect(headers["set-cookie"] == "a=1, x, b=2" && headers.names == ["Set-Cookie", "Via"])
        try headers.append("via", "b")
        try headers.set("Set-Cookie", to: "c=3")
        #expect(headers.map(\.value) == ["c=3", "a", "b"])
        headers.remove("VIA")
        #expect(headers.map(\.name) == ["Set-Cookie"])
    }

    @Test(arguments: ["b\r\nX-Injected: 1", "b\nc", "b\rc", "b\u{0}", "\u{1F}b", "b\u{1B}", "b\u{7F}"])
    func `a value with a control character is refused when the field is added`(value: String) {
        var headers = HTTPHeaders()
        let expected = #expect(throws: HTTPFieldError.self) { try headers.append("A", value) }
        #expect(expected?.code == .invalidValue && expected?.field == "A")
        #expect(throws: HTTPFieldError.self) { try headers.set("A", to: value) }
        #expect(throws: HTTPFieldError.self) { try HTTPRequestHead(url: baseURL).setting("A", to: value) }
        #expect(headers.isEmpty)
        #expect(expected.map { !"\($0)".contains("Injected") && "\($0)".contains("remove line ends") } == true)
    }

    @Test(arguments: ["", "a b", "a:", "a\r\n", "\u{212A}ey", "(a)"])
    func `a name that is no token is refused when the field is added`(name: String) {
        var headers = HTTPHeaders()
        #expect(throws: HTTPFieldError.self) { try headers.append(name, "b") }
        #expect(headers.isEmpty)
    }

    @Test func `white space around a value is left out`() throws {
        #expect(try HTTPField("A", " \tb c\t ").value == "b c")
        #expect(try HTTPField("A", " \t ").value == "")
        #expect(try HTTPField("A", "b\t é~").value == "b\t é~", "no other character is refused")
    }

    @Test func `the work to collect fields grows with their number`() {
        let isLinear = Fuzzing.isLinear("f") { bytes in
            bytes.indices.map { ("X-Field-\($0)", "value \($0)") }
        } _: { fields in
            precondition(HTTPHeaders(fields).count == fields.count)
        }
        #expect(isLinear)
    }
}
