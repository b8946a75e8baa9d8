import AuthInterface
import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// No input crashes a parser, makes it hang, or makes it use time out of proportion to its size (G26).
@Suite("Parsers of what a server writes", .timeLimit(.minutes(20)))
struct ParserFuzzTests {
    /// One parser, with inputs that come near what it reads.
    struct Parser: Sendable, CustomTestStringConvertible {
        let name: String
        var seeds: [String]
        var words: [String]
        /// Texts that, repeated, are hard for a careless parser.
        var units: [String]
        let parse: @Sendable (Data) throws -> Void

        var testDescription: String { name }

        init(
            _ name: String, seeds: [String], words: [String], units: [String] = [],
            parse: @escaping @Sendable (String) throws -> Void
        ) {
            self.init(name, seeds: seeds, words: words, units: units) { try parse(String(decoding: $0, as: UTF8.self)) }
        }

        init(
            _ name: String, seeds: [String], words: [String], units: [String] = [],
            data: @escaping @Sendable (Data) throws -> Void
        ) {
            (self.name, self.seeds, self.words, self.units, self.parse) = (name, seeds, words, units, data)
        }
    }

    static let parsers: [Parser] = [
        Parser(
            "event stream", seeds: ["id: 1\nevent: a\ndata: b\n\n", "\u{FEFF}retry: 5\r\n: c\r\rdata\n\n"],
            words: ["data:", "id:", "retry:", "event:", "\n", "\r", "\r\n", "\u{0}", "\u{FEFF}", ":", "9"],
            units: ["data: a\n", "\r", "id: 1\n\n", ":", "a"]
        ) { data in
            var parser = ServerSentEventParser(limit: 1_000_000)
            var rest = data
            while !rest.isEmpty {
                _ = try parser.read(Data(rest.prefix(1 + rest.count / 3)))
                rest = rest.dropFirst(1 + (rest.count) / 3)
            }
        },
        Parser(
            "JSON lines", seeds: ["{\"a\":1}\n{\"b\":2}\r\n\n"], words: ["\n", "\r", "{", "\u{FEFF}"],
            units: ["{}\n", "\n", "x"]
        ) { data in
            var splitter = LineSplitter(limit: 1_000_000)
            _ = try splitter.read(data)
            _ = splitter.end()
        },
        Parser(
            "Link", seeds: ["<https://a.example/?page=2>; rel=\"next\"; title*=UTF-8''a%20b, <b>; rel=prev"],
            words: ["<", ">", ";", ",", "\"", "\\", "rel=", "*=", "UTF-8''", "%", " "],
            units: ["<", "<a>;", "\"", ",", "<a>; rel=next, ", ";", "\\", "a "]
        ) { text in
            _ = HTTPResponseHead(status: 200, headers: HTTPHeaders([("Link", text)]), url: baseURL).link("next")
            _ = WebLink.links(in: text)
        },
        Parser(
            "Content-Disposition", seeds: ["attachment; filename=\"a.txt\"; filename*=UTF-8''%e2%82%ac.txt"],
            words: ["filename=", "filename*=", "\"", "\\", ";", "'", "%", "..", "/", "\u{202E}"],
            units: [";", "; a=\"", "\\", "a", "; filename=a", "%41", "."]
        ) { text in
            let name = ContentDisposition(text)?.fileName
            #expect(name?.contains("/") != true && name?.hasPrefix(".") != true)
            _ = ContentDisposition.safeFileName(text)
        },
        Parser(
            "Content-Range", seeds: ["bytes 5-9/10", "bytes */10"],
            words: ["-", "/", "*", "bytes", "9999999999999999999"],
            units: ["bytes ", "-", "/", "9"]
        ) { text in
            if let range = ContentRange(text) { #expect(range.first <= range.last && range.last < range.total ?? .max) }
        },
        Parser(
            "header fields", seeds: ["Content-Type: text/plain", "X: \t a"], words: [":", "\r\n", "\u{0}", "\t", "é"],
            units: ["a", " ", "\t", ":"]
        ) { text in
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            var headers = HTTPHeaders()
            try headers.append(parts.first ?? "", parts.last ?? "")
            #expect(headers.allSatisfy { !$0.value.contains("\r\n") && !$0.value.contains("\n") })
        },
        Parser(
            "dates",
            seeds: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
            words: ["Mon,", "GMT", "31", "Feb", ":", " ", "9999"],
            units: ["Sun, ", ":", "0"]
        ) { text in _ = HTTPDate(text) },
        Parser(
            "challenges", seeds: ["Bearer realm=\"a\", error=\"invalid_token\", Basic x==", "Digest a=b"],
            words: ["Bearer", "error=", "\"", ",", "=", "\\", "invalid_token"],
            units: [",", "a=\"", "Bearer ", "\\", "="]
        ) { text in
            let headers = HTTPHeaders([("WWW-Authenticate", text)])
            _ = HTTPResponseHead(status: 401, headers: headers).saysBearerTokenIsInvalid
        },
        Parser(
            "HAR", seeds: [(try? HTTPArchive().encoded()).map { String(decoding: $0, as: UTF8.self) } ?? ""],
            words: ["{", "}", "[", "]", "\"entries\":", "\"log\":", "null", "1e999", "-1", "\\u0000"],
            units: ["[", "{\"a\":", " "]
        ) { data in _ = try HTTPArchive(data) },
        Parser(
            "traceparent", seeds: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
            words: ["-", "00", "ff", "g"],
            units: ["-", "0"]
        ) { text in
            if let trace = TraceContext(traceparent: text) {
                #expect(TraceContext(traceparent: trace.traceparent) != nil)
            }
        },
        Parser(
            "multipart names", seeds: ["name", "a\"b\r\nc"], words: ["\"", "\r\n", "%22", "\u{0}", "é"],
            units: ["\"", "\r\n", "a"]
        ) { text in
            var form = MultipartForm(boundary: "boundary")
            form.append(text, "value")
        },
        Parser(
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
        Parser(
            "members", seeds: [#"{"token":"very-secret","a":[1,"b"]}"#],
            words: ["\"", "\\", ":", "\"token\":", " ", "1"],
            units: ["\"", "\\", "\"a\":", "\"token\":1,"]
        ) { text in
            _ = Redaction.standard.body(Data(text.utf8), contentType: "text/plain")
        },
        Parser(
            "redaction", seeds: ["token eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDB9.c2ln very-secret"],
            words: ["very-secret", "%76", "&#43;", "\\u002b", "eyJ", "."],
            units: ["eyJ", "very-secre", "aA0", ".", "%", "&#", "\\u00"]
        ) { text in
            let shown = Redaction(secrets: ["very-secret"]).text(text)
            #expect(!shown.contains("very-secret"))
        },
    ]

    @Test(arguments: parsers)
    func `no input crashes or hangs a parser`(parser: Parser) {
        Fuzzing(seeds: parser.seeds, words: parser.words).run(parser.parse)
    }

    @Test(arguments: parsers)
    func `the time of a parser is linear in the length of its input`(parser: Parser) {
        let start = parser.seeds[0]
        for unit in parser.units {
            let isLinear = Fuzzing.isLinear(unit, prefix: start, suffix: start, parser.parse)
            #expect(isLinear, "\(unit.debugDescription) repeated")
        }
    }
}
