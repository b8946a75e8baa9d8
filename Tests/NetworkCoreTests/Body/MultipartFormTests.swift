import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("MultipartForm")
struct MultipartFormTests {
    func text(_ form: MultipartForm) throws -> String {
        String(decoding: try MultipartEncoder(form).data(), as: UTF8.self)
    }

    @Test func `fields and files are written in order`() throws {
        var form = MultipartForm(boundary: "line")
        form.append("name", "Ada")
        form.append("image", data: Data("jpeg".utf8), filename: "a.jpg", contentType: "image/jpeg")
        form.append("meta", data: Data(#"{"a":1}"#.utf8), contentType: "application/json")
        let expected = [
            "--line", #"Content-Disposition: form-data; name="name""#, "", "Ada",
            "--line", #"Content-Disposition: form-data; name="image"; filename="a.jpg""#,
            "Content-Type: image/jpeg", "", "jpeg",
            "--line", #"Content-Disposition: form-data; name="meta""#, "Content-Type: application/json", "",
            #"{"a":1}"#,
            "--line--", "",
        ]
        #expect(try text(form) == expected.joined(separator: "\r\n"))
        #expect(form.contentType == "multipart/form-data; boundary=line")
    }

    /// Names, and how they are written as names of files and of fields, whose line ends are normalized.
    @Test(arguments: [
        (#"a"b"#, "a%22b", "a%22b"), ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"), ("a\nb", "a%0Ab", "a%0D%0Ab"),
        ("a\rb", "a%0Db", "a%0D%0Ab"), ("\n\r\r\n", "%0A%0D%0D%0A", "%0D%0A%0D%0A%0D%0A"), ("a\\b", "a\\b", "a\\b"),
        ("é😀", "é😀", "é😀"), ("a%22b", "a%22b", "a%22b"),
        (#"x"; filename="evil"#, "x%22; filename=%22evil", "x%22; filename=%22evil"),
        ("a\nX-Injected: 1", "a%0AX-Injected: 1", "a%0D%0AX-Injected: 1"),
    ])
    func `names are quoted as browsers quote them`(name: String, file: String, field: String) throws {
        var form = MultipartForm(boundary: "line")
        form.append("a", data: Data(), filename: name, contentType: "text/plain")
        form.append(name, "1")
        form.append(name, data: Data(), filename: "f", contentType: "text/plain")
        #expect(try text(form).contains("form-data; name=\"a\"; filename=\"\(file)\"\r\n"))
        #expect(try text(form).contains("form-data; name=\"\(field)\"\r\n\r\n1\r\n"))
        #expect(try text(form).contains("form-data; name=\"\(field)\"; filename=\"f\"\r\n"))
    }

    @Test func `names are composed, and values stay`() throws {
        let file = try TemporaryFile(Data(), named: "Bu\u{308}ro.txt")
        var form = MultipartForm(boundary: "line")
        form.append("u\u{308}", "U\u{308}")
        form.append("data", data: Data(), filename: "U\u{308}ni.jpg", contentType: "image/jpeg")
        form.append("file", file: file.url, contentType: "text/plain")
        // Bytes: Swift takes both forms of a text for equal.
        let data = try MultipartEncoder(form).data()
        let field = "name=\"\u{FC}\"\r\n\r\nU\u{308}\r\n"
        for text in [field, "filename=\"\u{DC}ni.jpg\"", "filename=\"B\u{FC}ro.txt\""] {
            #expect(data.range(of: Data(text.utf8)) != nil)
        }
    }

    @Test func `line ends of texts are normalized, those of data are not`() throws {
        var form = MultipartForm(boundary: "line")
        form.append("text", "x\ny\rz\r\n")
        form.append("data", data: Data("x\ny\rz".utf8), filename: "f", contentType: "text/plain")
        let encoder = try MultipartEncoder(form)
        let data = try encoder.data()
        #expect(data.range(of: Data("\r\n\r\nx\r\ny\r\nz\r\n\r\n--line".utf8)) != nil)
        #expect(data.range(of: Data("\r\n\r\nx\ny\rz\r\n--line".utf8)) != nil)
        #expect(Int64(data.count) == encoder.length)
    }

    @Test func `a media type cannot inject a field`() {
        var form = MultipartForm()
        form.append("a", data: Data(), filename: "a", contentType: "text/plain\r\nX-Injected: 1")
        let error = #expect(throws: NetworkError.self) { try MultipartEncoder(form) }
        #expect(error?.code == .encodingFailed)
    }

    @Test func `a length that is no number is an error`() throws {
        #expect(try MultipartEncoder.sum([1, .max - 1]) == .max)
        let error = #expect(throws: HTTPBodyError.self) { try MultipartEncoder.sum([2, .max - 1]) }
        #expect(error?.code == .tooLong)
    }

    @Test func `a small form is encoded in memory and a large one is read in pieces with its length`() async throws {
        var small = MultipartForm()
        small.append("name", "Ada")
        #expect(small.contentType != MultipartForm().contentType, "each form has a boundary of its own")
        #expect(try RequestBody.multipart(small).encoded(by: .standard).data != nil)
        let part = try TemporaryFile(Data(repeating: 7, count: Int(MultipartForm.memoryLimit)), named: "big.bin")
        var large = small
        large.append("é", "ü")
        large.append("file", file: part.url, contentType: "application/octet-stream")
        let body = try RequestBody.multipart(large).encoded(by: .standard)
        #expect(body.data == nil && body.isReplayable)
        let encoded = try MultipartEncoder(large).data()
        #expect(body.length == Int64(encoded.count))
        for _ in 0..<2 {
            var written = Data()
            for try await piece in body {
                #expect(piece.count <= 64 * 1_024)
                written += piece
            }
            #expect(written == encoded)
        }
        #expect(String(decoding: encoded.prefix(1_000), as: UTF8.self).contains(#"filename="big.bin""#))
    }

    @Test func `a missing file fails before anything is sent`() {
        var form = MultipartForm()
        form.append("file", file: url("file:///nowhere/at/all"), contentType: "text/plain")
        for body in [RequestBody.multipart(form), .file(url("file:///nowhere/at/all"))] {
            let error = #expect(throws: NetworkError.self) { try body.encoded(by: .standard) }
            #expect(error?.code == .encodingFailed && !"\(error as Any)".contains("nowhere"))
        }
    }
}
