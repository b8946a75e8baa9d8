import Foundation
public import NetworkCore

/// One event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The id of the last event that had one, this event included. It is sent as `Last-Event-ID` after a reconnection.
    public let id: String

    /// The type: `message` where the server names none.
    public let type: String

    /// The data, whose lines are joined with a line feed.
    public let data: String

    /// Creates an event.
    public init(id: String = "", type: String = "message", data: String) {
        self.id = id
        self.type = type
        self.data = data
    }

    /// Decodes the data as JSON.
    ///
    /// - Throws: `NetworkError` with code `decodingFailed`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        coding: JSONCoding = .standard
    ) throws -> Value {
        do {
            return try coding.makeDecoder().decode(type, from: Data(data.utf8))
        } catch {
            throw try NetworkError(describing: error, otherwise: .decodingFailed)
        }
    }
}

/// Reads an event stream in pieces of any size (WHATWG HTML §9.2.6).
///
/// An event is complete at its empty line. What is left at the end of the stream is no event.
///
/// - Complexity: O(*n*) in the number of bytes.
struct ServerSentEventParser {
    /// The id for `Last-Event-ID`: of the last event that was complete.
    private(set) var lastEventID: String

    /// The pause before a reconnection that the server asked for.
    private(set) var retry: Duration?

    /// Why there are no more events after those that the last piece completed: an event is over the limit.
    private(set) var failure: NetworkError?

    private let limit: Int
    private var id: String
    private var type = ""
    private var data: [UInt8] = []
    private var line: [UInt8] = []
    private var endedWithCR = false
    private var isFirstLine = true

    init(lastEventID: String = "", limit: Int) {
        self.lastEventID = lastEventID
        id = lastEventID
        self.limit = limit
    }

    /// Reads a piece.
    ///
    /// - Returns: The events that the piece completes before ``failure``.
    /// - Throws: ``failure`` if the piece completed no line.
    mutating func read(_ piece: Data) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        do {
            try read(piece, into: &events)
        } catch {
            failure = failure ?? error as? NetworkError
        }
        if let failure, events.isEmpty { throw failure }
        return events
    }

    private mutating func read(_ piece: Data, into events: inout [ServerSentEvent]) throws {
        if let failure { throw failure }
        try piece.withUnsafeBytes { bytes in
            var rest = bytes[...]
            if endedWithCR, let first = rest.first {
                endedWithCR = false
                if first == Self.lf { rest = rest.dropFirst() }
            }
            while let end = rest.firstIndex(where: { $0 == Self.lf || $0 == Self.cr }) {
                try append(rest[..<end])
                if let event = endLine() { events.append(event) }
                let isCR = rest[end] == Self.cr
                rest = rest[(end + 1)...]
                guard isCR else { continue }
                if rest.isEmpty { endedWithCR = true } else if rest.first == Self.lf { rest = rest.dropFirst() }
            }
            try append(rest)
        }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
        guard line.count + data.count + bytes.count <= limit else {
            throw NetworkError(.responseTooLarge, reason: "an event has more than \(limit) bytes")
        }
        line.append(contentsOf: bytes)
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: line.count <= Self.keptCapacity) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        }
        guard !line.isEmpty else { return endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            data.append(contentsOf: value)
            data.append(Self.lf)
        case "id" where !value.contains(0):
            id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { Self.digits.contains($0) }:
            // A number that is too large to read is longer than the longest pause too.
            retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max)
        default:
            break
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        lastEventID = id
        defer {
            data.removeAll(keepingCapacity: data.count <= Self.keptCapacity)
            type = ""
        }
        guard !data.isEmpty else { return nil }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        return ServerSentEvent(id: id, type: type.isEmpty ? "message" : type, data: text)
    }

    private static let lf = UInt8(ascii: "\n")
    private static let cr = UInt8(ascii: "\r")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let keptCapacity = 64 * 1_024
}
