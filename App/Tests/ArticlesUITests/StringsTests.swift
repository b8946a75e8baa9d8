import AuthInterface
import Foundation
import Testing

@testable import ArticlesUI

@Suite struct StringsTests {
    @Test func `every language has every text, in its script`() {
        #expect(Set(Strings.english.keys) == Set(Phrase.allCases))
        #expect(Set(Strings.korean.keys) == Set(Phrase.allCases))
        for language in Language.allCases {
            for phrase in Phrase.allCases { #expect(!Strings(language)(phrase).isEmpty, "\(phrase)") }
        }
        for (phrase, text) in Strings.korean where phrase != .errorDetails {
            #expect(text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }, "\(phrase)")
        }
    }

    @Test(arguments: Phrase.allCases)
    func `a text has the same arguments in every language`(phrase: Phrase) {
        let arguments = Language.allCases.map { language in
            Strings(language).template(of: phrase).matches(of: /\{[a-z]+\}/).map { String($0.output) }.sorted()
        }
        #expect(Set(arguments).count == 1)
    }

    @Test(arguments: [
        (["ko-KR", "en"], Language.korean), (["ko_KR.UTF-8"], .korean), (["de", "ko"], .korean), (["fr"], .english),
        ([], .english), (["", "korean"], .english),
    ])
    func `the first language of the user that exists is used`(identifiers: [String], expected: Language) {
        #expect(Language(preferred: identifiers) == expected)
    }

    @Test func `an argument is inserted once, and a missing one stays visible`() {
        let strings = Strings(.english)
        #expect(strings(.byAuthor, ["author": "{author} {name}"]) == "by {author} {name}")
        #expect(strings(.byAuthor) == "by {author}")
        #expect(strings(.uploading, ["percent": "%d %@"]) == "Uploading: %d %@%")
    }

    @Test func `every code of the network's and the imaging errors has a text`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let sources = [
            "Modules/NetworkCore/Errors/NetworkError+Code.swift",
            "Modules/AuthInterface/Session/AuthenticationError.swift",
        ]
        let codes = try sources.flatMap { path in
            let source = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            return source.matches(of: /\(rawValue: "([A-Za-z]+)"\)/).map { String($0.1) }
        }
        #expect(codes.count > 20)
        for code in codes { #expect(Phrase(errorCode: code, status: nil) != nil, "\(code)") }
    }

    @Test func `an error without a text in the table shows its own, or a general one`() {
        struct Failure: LocalizedError {
            let errorDescription: String?
        }
        let strings = Strings(.korean)
        #expect(strings.message(for: ScreenError(Failure(errorDescription: "Own text"))) == "Own text")
        #expect(strings.message(for: ScreenError(Failure(errorDescription: nil))) == strings(.errorUnknown))
        #expect(strings.message(for: ScreenError(CancellationError())) == strings(.errorUnknown))
    }

    @Test func `an error shows its status and its request, and a refusal what the server says about the input`() {
        let (english, korean) = (Strings(.english), Strings(.korean))
        let refused = ScreenError("unacceptableStatus", status: 422, detail: "The title is too long.")
        #expect(korean.message(for: refused) == "The title is too long. (HTTP 422)")
        let failed = ScreenError("unacceptableStatus", status: 500, detail: "Internal")
        #expect(korean.message(for: failed).hasPrefix(korean(.errorServer)))
        let error = ScreenError("unacceptableStatus", status: 503, requestID: "r-1")
        #expect(english.message(for: error) == "The server has a problem. Try again later. (HTTP 503, r-1)")
        #expect(korean.message(for: error).hasSuffix("(HTTP 503, r-1)"))
        #expect(korean.message(for: error) != english.message(for: error))
        let tooLong = ScreenError("unacceptableStatus", status: 400, requestID: "r-1", limits: [.text: 9, .title: 5])
        #expect(english.message(for: tooLong) == "Title: at most 5 characters. Text: at most 9 characters.")
    }

    @Test func `the end of a session is explained with what is known of it`() {
        let strings = Strings(.english)
        let ending = SessionEnding(status: 401, code: "REUSED", requestID: "r-1")
        let known = "It was used in two places at once, which the server takes for a theft. (HTTP 401, REUSED, r-1)"
        let causes = [
            (ending, " \(known)"), (SessionEnding(code: "invalid_grant"), " (invalid_grant)"),
            (SessionEnding(code: "REFRESH_TOKEN_EXPIRED"), " It was not used for too long. (REFRESH_TOKEN_EXPIRED)"),
            (SessionEnding(code: "session_revoked"), " It was ended elsewhere. (session_revoked)"),
        ]
        for (ending, cause) in causes {
            #expect(strings.explanation(of: .expired(ending)) == "The server has ended your session.\(cause)")
        }
        #expect(strings.explanation(of: .expired()) == "The server has ended your session.")
        #expect(strings.explanation(of: .application("closed")) == "Your session has ended: closed.")
        #expect(strings.explanation(of: .never) == nil)
    }
}
