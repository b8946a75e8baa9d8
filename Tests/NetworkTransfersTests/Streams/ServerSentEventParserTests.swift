import Foundation
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkTransfers

extension ServerSentEventParser {
    /// The events that a piece completes.
    mutating func events(of piece: Data) throws -> [ServerSentEvent] {
        take(piece)
        var events: [ServerSentEvent] = []
        while let event = try next() { events.append(event) }
        return events
    }
}

@Suite("Parsing of event streams")
struct ServerSentEventParserTests {
    /// Parses a text in pieces of a size.
    func parse(_ text: String, pieces size: Int = .max) throws -> [ServerSentEvent] {
        var parser = ServerSentEventParser(limit: 10_000)
        var rest = Data(text.utf8)
        var events: [ServerSentEvent] = []
        while !rest.isEmpty {
            events += try parser.events(of: Data(rest.prefix(size)))
            rest = Data(rest.dropFirst(size))
        }
        return events
    }

    @Test(arguments: ["\n", "\r", "\r\n"], [1, 2, 3, .max])
    func `lines end with LF, CR or CRLF, however the stream is cut`(end: String, size: Int) throws {
        let text = ["event: add", "data: a", "data:b", "id: 1", "", ": comment", "data", "", ""]
        let events = try parse(text.joined(separator: end), pieces: size)
        #expect(
            events == [
                ServerSentEvent(id: "1", type: "add", data: "a\nb"), ServerSentEvent(id: "1", data: ""),
            ])
    }

    @Test(arguments: [
        // One byte order mark is skipped, and a second one is part of the field.
        ("\u{FEFF}data: a\n\n", [ServerSentEvent(data: "a")]), ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("data: a\n\u{FEFF}data: b\n\n", [ServerSentEvent(data: "a")]),
        // One space after the colon is left out.
        ("data:  a\n\ndata:\tb\n\n", [ServerSentEvent(data: " a"), ServerSentEvent(data: "\tb")]),
        // An event that is not ended is no event, and an empty type is the usual one.
        ("data: a\n\ndata: b\n", [ServerSentEvent(data: "a")]),
        ("event: add\nevent:\ndata: a\n\n", [ServerSentEvent(type: "message", data: "a")]),
        // An id with NUL is ignored, and an empty one resets the id.
        ("id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n", ["a", "b"].map { ServerSentEvent(id: "1", data: $0) }),
        ("id: 1\ndata: a\n\nid\ndata: c\n\n", [ServerSentEvent(id: "1", data: "a"), ServerSentEvent(data: "c")]),
    ])
    func `events are read as the standard says`(text: String, events: [ServerSentEvent]) throws {
        #expect(try parse(text) == events)
    }

    @Test func `an event without data is none, and its id counts`() throws {
        var parser = ServerSentEventParser(lastEventID: "0", limit: 100)
        #expect(try parser.events(of: Data("id: 7\nevent: x\n\n".utf8)).isEmpty)
        #expect(parser.lastEventID == "7")
        #expect(try parser.events(of: Data("id: 8\ndata: a\n".utf8)).isEmpty)
        #expect(parser.lastEventID == "7")
        #expect(try parser.events(of: Data("\n".utf8)).map(\.type) == ["message"])
    }

    @Test(
        arguments: [
            ("retry: 1500", Duration.milliseconds(1_500)), ("retry: 15x", nil), ("retry:", nil), ("retry: -1", nil),
            ("retry: 99999999999999999999999", .milliseconds(Int64.max)),
        ])
    func `retry is a number of milliseconds in digits`(line: String, expected: Duration?) throws {
        var parser = ServerSentEventParser(limit: 100)
        _ = try parser.events(of: Data((line + "\n").utf8))
        #expect(parser.retry == expected)
    }

    @Test func `an event over the limit is an error, many small ones are not`() throws {
        var parser = ServerSentEventParser(limit: 100)
        for _ in 0..<1_000 { _ = try parser.events(of: Data("data: 1234567890\n\n".utf8)) }
        let error = #expect(throws: NetworkError.self) {
            for _ in 0..<10 { _ = try parser.events(of: Data("data: 1234567890\n".utf8)) }
        }
        #expect(error?.code == .responseTooLarge)
        #expect(throws: NetworkError.self) { try parser.next() }
        var whole = ServerSentEventParser(limit: 100)
        let lines = String(repeating: "data: 1234567890\n", count: 10) + "\n"
        #expect(throws: NetworkError.self) { try whole.events(of: Data(lines.utf8)) }
    }

    @Test func `the time of a line in many pieces is linear in its length`() {
        #expect(
            Fuzzing.isLinear("a", prefix: "data: ", size: 131_072, preparing: { $0 }) { line in
                var parser = ServerSentEventParser(limit: .max)
                for start in stride(from: 0, to: line.count, by: 256) {
                    _ = try parser.events(of: line[start..<min(start + 256, line.count)])
                }
            })
    }

    @Test func `invalid UTF-8 is replaced`() throws {
        var parser = ServerSentEventParser(limit: 100)
        #expect(try parser.events(of: Data("data: ".utf8) + [0xFF, 0x0A, 0x0A]).map(\.data) == ["\u{FFFD}"])
    }
}
