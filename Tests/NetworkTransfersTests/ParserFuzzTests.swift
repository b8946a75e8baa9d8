import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkTransfers

/// No input crashes a parser, makes it hang, or makes it use time out of proportion to its size (G26).
@Suite("Parsers of what a server writes", .ownThread, .timeLimit(.minutes(20)))
struct ParserFuzzTests {
    static let parsers: [FuzzedParser] = [
        FuzzedParser(
            "Content-Disposition", seeds: ["attachment; filename=\"a.txt\"; filename*=UTF-8''%e2%82%ac.txt"],
            words: [
                "filename=", "filename*=UTF-8''", "\"", "\\", ";", "'", "%", "%2F", "%5c", "..", "/", ":", "~", "\u{0}",
                "\u{202E}",
            ],
            units: [";", "; a=\"", "\\", "a", "; filename=a", "%41", "."]
        ) { text in
            for name in [ContentDisposition(text)?.fileName, ContentDisposition.safeFileName(text)].compactMap(\.self) {
                #expect(!name.contains("/") && !name.contains("\\") && !name.hasPrefix(".") && !name.isEmpty)
            }
        },
        FuzzedParser(
            "event stream", seeds: ["id: 1\nevent: a\ndata: b\n\n", "\u{FEFF}retry: 5\r\n: c\r\rdata\n\n"],
            words: ["data:", "id:", "retry:", "event:", "\n", "\r", "\r\n", "\u{0}", "\u{FEFF}", ":", "9"],
            units: ["data: a\n", "\r", "id: 1\n\n", ":", "a"]
        ) { data in
            var parser = ServerSentEventParser(limit: 1_000_000)
            var rest = data
            while !rest.isEmpty {
                _ = try parser.events(of: Data(rest.prefix(1 + rest.count / 3)))
                rest = rest.dropFirst(1 + (rest.count) / 3)
            }
        },
        FuzzedParser(
            "JSON lines", seeds: ["{\"a\":1}\n{\"b\":2}\r\n\n"], words: ["\n", "\r", "{", "\u{FEFF}"],
            units: ["{}\n", "\n", "x"]
        ) { data in
            var splitter = LineSplitter(limit: 1_000_000)
            splitter.take(data)
            while try splitter.next() != nil {}
            splitter.end()
            _ = try splitter.next()
        },
        FuzzedParser(
            "Link", seeds: ["<https://a.example/?page=2>; rel=\"next\"; title*=UTF-8''a%20b, <b>; rel=prev"],
            words: ["<", ">", ";", ",", "\"", "\\", "rel=", "*=", "UTF-8''", "%", " "],
            units: ["<", "<a>;", "\"", ",", "<a>; rel=next, ", ";", "\\", "a "]
        ) { text in
            _ = HTTPResponseHead(status: 200, headers: HTTPHeaders([("Link", text)]), url: baseURL).link("next")
            _ = WebLink.links(in: text)
        },
        FuzzedParser(
            "Content-Range", seeds: ["bytes 5-9/10", "bytes */10"],
            words: ["-", "/", "*", "bytes", "9999999999999999999", "9223372036854775807"],
            units: ["bytes ", "-", "/", "9"]
        ) { text in
            if let range = ContentRange(text) { #expect(range.first <= range.last && range.last < range.total ?? .max) }
        },
    ]

    @Test(arguments: parsers)
    func `no input crashes or hangs a parser, and its time is linear in the length of its input`(
        parser: FuzzedParser
    ) { parser.check() }
}
