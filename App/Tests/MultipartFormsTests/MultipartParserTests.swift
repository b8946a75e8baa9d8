import Foundation
import Testing

@testable import MultipartForms

@Suite struct MultipartParserTests {
    private func parse(_ body: Data, boundary: String = "b", maximumParts: Int = 4) throws -> [MultipartPart] {
        try MultipartParser.parts(of: body, boundary: boundary, maximumParts: maximumParts, maximumHeaderBytes: 200)
    }

    private func parse(_ text: String, boundary: String = "b", maximumParts: Int = 4) throws -> [MultipartPart] {
        try parse(Data(text.utf8), boundary: boundary, maximumParts: maximumParts)
    }

    private static let name = "Content-Disposition: form-data; name=\"n\""

    @Test(arguments: [
        ("--b\r\n\(name)\r\n\r\nvalue\r\n--b--\r\n", "value"), ("--b\r\n\(name)\r\n\r\nvalue\r\n--b--", "value"),
        ("--b\r\n\(name)\r\n\r\n\r\n--b--", ""),
        ("preamble\r\n--b\r\n\(name)\r\n\r\nvalue\r\n--b--\r\nepilogue", "value"),
        ("--b \t\r\n\(name)\r\n\r\nvalue\r\n--b--", "value"), ("--b\r\n\(name)\r\n\r\na --b b\r\n--b--", "a --b b"),
        ("--b\r\n\(name)\r\n\r\na\n--b\nb\r\n--b--", "a\n--b\nb"),
        ("--b\r\n\(name)\r\n\r\na\r\n -- b\r\n--b--", "a\r\n -- b"),
        ("--b\r\n\(name)\r\n\r\n\r\nvalue\r\n\r\n--b--", "\r\nvalue\r\n"),
        ("--b\r\ncontent-disposition:form-data;name=n\r\n\r\nvalue\r\n--b--", "value"),
        ("--b\r\nX-Other: 1\r\n\(name)\r\n\r\nvalue\r\n--b--", "value"),
    ])
    func `the content is everything between the header and the delimiter`(body: String, content: String) throws {
        let parts = try parse(body)
        #expect(parts.map(\.header.name) == ["n"])
        #expect(parts.map { String(decoding: $0.content, as: UTF8.self) } == [content])
    }

    @Test(arguments: [
        ("", MultipartParser.Failure.missingOpening), ("nothing here", .missingOpening),
        ("--c\r\n\(name)\r\n\r\nvalue\r\n--c--", .missingOpening), ("--b", .truncated), ("--b\r\n", .truncated),
        ("--b\r\n\(name)\r\n\r\nvalue", .truncated), ("--b\r\n\(name)\r\n\r\nvalue\r\n--b", .truncated),
        ("--b\r\n\(name)\r\n\r\nvalue\r\n--b\r\n", .truncated), ("--b\r\n\(name)\r\n\r\nvalue\n--b--", .truncated),
        ("--bx\r\n\(name)\r\n\r\nvalue\r\n--b--", .malformedDelimiter),
        ("--b\n\(name)\n\nvalue\r\n--b--", .malformedDelimiter),
        ("--b\r\n\(name)\r\n\r\nvalue\r\n--bc\r\n--b--", .malformedDelimiter),
        ("--b\r\n\(name)\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\n\(name)\n\nvalue\r\n\r\nx\r\n--b--", .malformedHeader),
        ("--b\r\n\(name);\r\n x=1\r\n\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\nno colon\r\n\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\n: x\r\n\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\n\(name)\r\n\(name)\r\n\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\nContent-Disposition: form-data; name=\"n\r\n\r\nvalue\r\n--b--", .malformedHeader),
        ("--b\r\n\(name)\r\n\r\n--b--", .malformedHeader), ("--b\r\n\r\n--b--", .missingName),
        ("--b\r\n\r\nvalue\r\n--b--", .missingName),
        ("--b\r\nContent-Disposition: attachment; name=\"n\"\r\n\r\nvalue\r\n--b--", .missingName),
        ("--b\r\nContent-Disposition: form-data\r\n\r\nvalue\r\n--b--", .missingName),
    ])
    func `the error names the violation`(body: String, error: MultipartParser.Failure) {
        #expect(throws: error) { try parse(body) }
    }

    @Test(arguments: ["--b--", "--b--\r\n", "x--b\r\n\(name)\r\n\r\nvalue\r\n--b--"])
    func `a body whose first delimiter is the closing one has no parts`(body: String) throws {
        #expect(try parse(body).isEmpty)
    }

    @Test(arguments: ["", " ", "ends in blank ", "naïve", "a\"b", "a\r\nb", String(repeating: "b", count: 71)])
    func `an invalid boundary is rejected`(boundary: String) {
        #expect(throws: MultipartParser.Failure.invalidBoundary) { try parse("", boundary: boundary) }
    }

    @Test func `a boundary of the maximum length and one of unusual characters are accepted`() throws {
        for boundary in [String(repeating: "b", count: 70), "'()+_,-./:=? x"] {
            let parts = try parse("--\(boundary)\r\n\(Self.name)\r\n\r\nv\r\n--\(boundary)--", boundary: boundary)
            #expect(parts.count == 1)
        }
    }

    @Test func `too many parts are rejected, and a header over the limit, with content of any length`() throws {
        let part = "--b\r\n\(Self.name)\r\n\r\nv\r\n"
        #expect(try parse(part + part + "--b--", maximumParts: 2).count == 2)
        #expect(throws: MultipartParser.Failure.tooManyParts) {
            try parse(part + part + part + "--b--", maximumParts: 2)
        }
        func body(padding: Int) -> String {
            let pad = String(repeating: "x", count: padding)
            return "--b\r\n\(Self.name)\r\nX: \(pad)\r\n\r\n\(pad)\r\n--b--"
        }
        let room = 200 - Self.name.utf8.count - "\r\nX: ".utf8.count
        #expect(try parse(body(padding: room)).count == 1)
        #expect(throws: MultipartParser.Failure.headerTooLarge) { try parse(body(padding: room + 1)) }
    }

    @Test func `content of any bytes is unchanged, and a header that is not UTF-8 is rejected`() throws {
        let header = Data("--b\r\nX: ".utf8) + [0xFF] + Data("\r\n\r\nv\r\n--b--".utf8)
        #expect(throws: MultipartParser.Failure.malformedHeader) { try parse(header) }
        let content = Data((0...255).map { UInt8($0) } + [0x0D, 0x0A, 0x2D, 0x2D])
        let body = Data("--b\r\n\(Self.name)\r\n\r\n".utf8) + content + Data("\r\n--b--".utf8)
        #expect(try parse(body).map(\.content) == [content])
        // A slice does not start at index zero.
        #expect(try parse((Data("xx".utf8) + body).dropFirst(2)).map(\.content) == [content])
    }

    @Test(arguments: [
        (#"form-data; name="a"; filename="me.jpg""#, "me.jpg"), (#"form-data; filename=me.jpg; name=a"#, "me.jpg"),
        (#"form-data; name="a"; filename="a;b=c.jpg""#, "a;b=c.jpg"),
        (#"form-data; name="a"; filename="say \"hi\".jpg""#, #"say "hi".jpg"#),
        (#"form-data; name="a"; filename="C:\photos\me.jpg""#, #"C:\photos\me.jpg"#),
        (#"form-data; name="a"; filename="back\\slash.jpg""#, #"back\slash.jpg"#),
        (#"form-data; name="a"; filename="фото.jpg""#, "фото.jpg"),
        (#"form-data ;  NAME = "a" ; FileName = "x" ;"#, "x"),
    ])
    func `a filename can be a token or a quoted string`(disposition: String, filename: String) throws {
        let value = try #require(ParameterizedValue(disposition))
        #expect(value.value == "form-data")
        #expect(value.parameters == ["name": "a", "filename": filename])
    }

    @Test(arguments: [#"x; a="b"#, #"x; a="b"c"#, "x; a", "x; =b", "x; a=1; A=2", #"x; a="b\""#])
    func `an invalid parameter makes the value invalid`(text: String) {
        #expect(ParameterizedValue(text) == nil)
    }
}
