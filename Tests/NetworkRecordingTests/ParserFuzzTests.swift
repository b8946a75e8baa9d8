import Foundation
import TestSupport
import Testing

@testable import NetworkRecording

/// No input crashes a parser, makes it hang, or makes it use time out of proportion to its size (G26).
@Suite("Parsers of what a server writes", .ownThread, .timeLimit(.minutes(20)))
struct ParserFuzzTests {
    static let parsers: [FuzzedParser] = [
        FuzzedParser(
            "HAR", seeds: [(try? HTTPArchive().encoded()).map { String(decoding: $0, as: UTF8.self) } ?? ""],
            words: ["{", "}", "[", "]", "\"entries\":", "\"log\":", "null", "1e999", "-1", "\\u0000"],
            units: ["[", "{\"a\":", " "]
        ) { data in _ = try HTTPArchive(data) },
        FuzzedParser(
            "traceparent", seeds: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
            words: ["-", "00", "ff", "g"],
            units: ["-", "0"]
        ) { text in
            if let trace = TraceContext(traceparent: text) {
                #expect(TraceContext(traceparent: trace.traceparent) != nil)
            }
        },
    ]

    @Test(arguments: parsers)
    func `no input crashes or hangs a parser`(parser: FuzzedParser) { parser.fuzz() }

    @Test(arguments: parsers)
    func `the time of a parser is linear in the length of its input`(parser: FuzzedParser) {
        #expect(parser.nonlinearUnits() == [])
    }
}
