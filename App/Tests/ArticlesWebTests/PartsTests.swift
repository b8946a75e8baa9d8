import ArticlesUI
import DataAPI
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import ArticlesWeb

@Suite struct PartsTests {
    @Test func `every text that a template names exists, and none is inserted without escaping`() {
        for (name, source) in PageTemplates.sources {
            #expect(!source.contains("{{{") && !source.contains("{{&"), "\(name)")
            for match in source.matches(of: /\{\{t\.([A-Za-z]+)\}\}/) {
                #expect(Phrase(rawValue: String(match.1)) != nil, "\(name): \(match.1)")
            }
        }
    }

    @Test func `markup is escaped in any character, control characters are replaced, and line breaks are kept`() {
        let escaping = MarkupEscaping()
        #expect(escaping.escapeText("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;")
        for special in ["<", ">", "&", "\"", "'"] {
            for text in ["\u{600}\(special)", "\(special)\u{301}", "\(special)\u{200D}", "\r\(special)\u{FE0F}"] {
                let escaped = escaping.escapeText(text).unicodeScalars
                #expect(!escaped.contains { "<>\"'".unicodeScalars.contains($0) }, "\(text)")
            }
        }
        #expect(escaping.escapeText("a\0\u{1B}b\u{9B}c\u{202E}d\u{2066}e") == "a��b�c�d�e")
        #expect(escaping.escapeText("a\r\nb\tc\u{200F}") == "a\r\nb\tc\u{200F}")
    }

    @Test(arguments: [
        (nil, Language.english), ("ko", .korean), ("ko-KR,ko;q=0.9,en;q=0.8", .korean), ("en;q=0.1, ko;q=0.2", .korean),
        ("ko;q=0, en", .english), ("fr", .english), ("", .english), ("ko;q=x, en", .english), (";;,,=", .english),
        ("de, ko;q=0.5", .korean), ("en, ko", .english),
    ])
    func `the language is the preferred one that the screens have`(field: String?, language: Language) {
        #expect(Language(accepted: field) == language)
    }

    @Test(arguments: ["7", "a/b", "../x", "%2F", "a b?c#d", "가"])
    func `an identifier is one segment of a path`(id: String) throws {
        let path = Location.article(Article.ID(rawValue: id)).path
        let segments = path.split(separator: "/")
        #expect(segments.count == 2 && segments.last?.removingPercentEncoding == id)
        #expect(!path.contains("..") && !path.contains("?"))
    }

    private func fields(_ type: String, _ body: String, upTo limit: Int = 10_000) async throws -> FormFields {
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "127.0.0.1", path: "/", headerFields: [.contentType: type])
        return try await FormFields(
            Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))), upTo: limit)
    }

    @Test func `a form has its texts, with line breaks as the models have them`() async throws {
        let form = try await fields("application/x-www-form-urlencoded", "a=1+%2B&b=%EA%B0%80&a=2&c&d=x%0D%0Ay")
        #expect(form["a"] == "1 +" && form["b"] == "가" && form["c"].isEmpty && form["d"] == "x\ny")
        #expect(form["missing"].isEmpty && form.files.isEmpty)
    }

    @Test func `a form of another type is refused, and one that is too large has no fields`() async throws {
        await #expect(throws: (any Error).self) { _ = try await fields("text/plain", "a=1") }
        await #expect(throws: (any Error).self) { _ = try await fields("application/x-www-form-urlencoded", "a=%") }
        let large = try await fields("application/x-www-form-urlencoded", "a=1", upTo: 2)
        #expect(large.isTooLarge && large.texts.isEmpty)
    }
}
