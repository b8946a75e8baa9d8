import Foundation
import NetworkRecording
import TestSupport
import Testing

@testable import NetworkCore

/// No input crashes a parser, makes it hang, or makes it use time out of proportion to its size (G26).
@Suite("Parsers of what a server writes", .ownThread, .timeLimit(.minutes(20)))
struct ParserFuzzTests {
    static let parsers: [FuzzedParser] = [
        FuzzedParser(
            "header fields", seeds: ["Content-Type: text/plain", "X: \t a"], words: [":", "\r\n", "\u{0}", "\t", "é"],
            units: ["a", " ", "\t", ":"]
        ) { text in
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            var headers = HTTPHeaders()
            try headers.append(parts.first ?? "", parts.last ?? "")
            #expect(headers.allSatisfy { !$0.value.contains("\r\n") && !$0.value.contains("\n") })
        },
        FuzzedParser(
            "dates",
            seeds: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
            words: ["Mon,", "GMT", "31", "Feb", ":", " ", "9999"],
            units: ["Sun, ", ":", "0"]
        ) { text in _ = HTTPDate(text) },
        FuzzedParser(
            "challenges", seeds: ["Bearer realm=\"a\", error=\"invalid_token\", Basic x==", "Digest a=b"],
            words: ["Bearer", "error=", "\"", ",", "=", "\\", "invalid_token"],
            units: [",", "a=\"", "Bearer ", "\\", "="]
        ) { text in
            let headers = HTTPHeaders([("WWW-Authenticate", text)])
            _ = HTTPResponseHead(status: 401, headers: headers).saysBearerTokenIsInvalid
        },
        FuzzedParser(
            "multipart names", seeds: ["name", "a\"b\r\nc"], words: ["\"", "\r\n", "%22", "\u{0}", "é"],
            units: ["\"", "\r\n", "a"]
        ) { text in
            var form = MultipartForm(boundary: "boundary")
            form.append(text, "value")
            _ = try MultipartEncoder(form).data()
        },
        FuzzedParser(
            "shown URL",
            seeds: ["https://u:p@x.net:80/a%20b/very-secret?cursor=a%2Bb&c#d", "/%4very-secret?%2Fvery-secret"],
            words: [
                "very-secret", "%", "%2", "eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDB9.", "/", "?", "&", "=", ";",
            ],
            units: ["%2F", "%very-secret", "/", "&", ";token="]
        ) { text in
            guard let url = URL(string: text) else { return }
            #expect(!Redaction(secrets: ["very-secret"]).url(url).contains("very-secret"))
        },
        FuzzedParser(
            "members", seeds: [#"{"token":"very-secret","a":[1,"b"]}"#],
            words: ["\"", "\\", ":", "\"token\":", " ", "1"],
            units: ["\"", "\\", "\"a\":", "\"token\":1,"]
        ) { text in
            _ = Redaction.standard.body(Data(text.utf8), contentType: "text/plain")
        },
        FuzzedParser(
            "secrets of a request", seeds: ["Digest a=\"very-secret\", b = c; d={\"token\": \"e\"}"],
            words: ["\"", "=", "; ", " = ", ",", ":", "token"],
            units: ["a", "=", "a=", "\"", "=\"", ": ", " ", "{", "/?t=", "/?q="]
        ) { text in
            for name in ["Authorization", "Cookie"] {
                var secrets = CarriedSecrets()
                let url = try #require(URL(string: "https://host.example/"))
                secrets.add(HTTPRequestHead(method: .get, url: url, headers: HTTPHeaders([(name, text)])))
            }
        },
        FuzzedParser(
            "shown field", seeds: ["<https://host.example/very-secret>; rel=next"],
            words: ["<", ">", "very-secret", ";"],
            units: ["<", ">", "<a", "; "]
        ) { text in _ = Redaction.standard.fieldValue(text, named: "Link") },
        FuzzedParser(
            "codes", seeds: ["NOT_FOUND", "items[0].name", String(repeating: "A-", count: 31) + "A!"],
            words: ["A-", "_", "1", "!", "]", "b."], units: ["A-", "a.", "1_", "A1-"]
        ) { text in
            _ = Redaction.standard.code(text)
        },
        FuzzedParser(
            "redaction", seeds: ["token eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDB9.c2ln very-secret"],
            words: ["very-secret", "%76", "&#43;", "\\u002b", "eyJ", "."],
            units: ["eyJ", "very-secre", "aA0", ".", "%", "&#", "\\u00"]
        ) { text in
            let shown = Redaction(secrets: ["very-secret"]).text(text)
            #expect(!shown.contains("very-secret"))
        },
    ]

    @Test(arguments: parsers)
    func `no input crashes or hangs a parser, and its time is linear in the length of its input`(
        parser: FuzzedParser
    ) { parser.check() }
}
