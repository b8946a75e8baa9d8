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
    /// The data of the event so far. `nil`: no line had some.
    private var data: String?
    /// The bytes of its lines, as they were sent.
    private var dataCount = 0
    /// The bytes of the line that the pieces so far did not end.
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
            var ends = LineEnds(in: bytes)
            var start = 0
            if endedWithCR, let first = bytes.first {
                endedWithCR = false
                if first == Self.lf { start = 1 }
            }
            while let end = ends.next(from: start) {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if let event = try endLine(rest) { events.append(event) }
                start = end + 1
                guard bytes[end] == Self.cr else { continue }
                if start == bytes.count { endedWithCR = true } else if bytes[start] == Self.lf { start += 1 }
            }
            try append(bytes.from(start))
        }
    }

    private func requireSpace(for count: Int) throws {
        guard line.count + dataCount + count <= limit else {
            throw NetworkError(.responseTooLarge, reason: "an event has more than \(limit) bytes")
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        try requireSpace(for: bytes.count)
        line.append(contentsOf: bytes)
    }

    /// Ends the line with its bytes in the last piece. A line that is in one piece is not copied.
    private mutating func endLine(_ rest: UnsafeRawBufferPointer) throws -> ServerSentEvent? {
        guard !line.isEmpty else {
            try requireSpace(for: rest.count)
            return readLine(rest)
        }
        try append(rest)
        let whole = line
        line = []
        return whole.withUnsafeBytes { readLine($0) }
    }

    private mutating func readLine(_ bytes: UnsafeRawBufferPointer) -> ServerSentEvent? {
        var bytes = bytes
        if isFirstLine {
            isFirstLine = false
            if bytes.starts(with: Self.byteOrderMark) { bytes = bytes.from(Self.byteOrderMark.count) }
        }
        guard !bytes.isEmpty else { return endEvent() }
        // Nearly every line is one of these.
        if bytes.starts(with: "data:") {
            addData(bytes.fieldValue(from: 5))
            return nil
        }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"), from: 0) ?? bytes.count
        let value = bytes.fieldValue(from: min(colon + 1, bytes.count))
        switch String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<colon]), as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            addData(value)
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

    /// Adds a line of data. No character lies in two lines, so each line is decoded by itself.
    private mutating func addData(_ value: UnsafeRawBufferPointer) {
        dataCount += value.count + 1
        let text = String(decoding: value, as: UTF8.self)
        guard data != nil else { return data = text }
        data?.append("\n")
        data?.append(text)
    }

    private mutating func endEvent() -> ServerSentEvent? {
        lastEventID = id
        defer { (data, dataCount, type) = (nil, 0, "") }
        return data.map { ServerSentEvent(id: id, type: type.isEmpty ? "message" : type, data: $0) }
    }

    private static let lf = UInt8(ascii: "\n")
    private static let cr = UInt8(ascii: "\r")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension UnsafeRawBufferPointer {
    fileprivate func starts(with text: StaticString) -> Bool {
        guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// The value of a field, from an index on: one space before it does not belong to it.
    fileprivate func fieldValue(from start: Int) -> UnsafeRawBufferPointer {
        from(start < count && self[start] == UInt8(ascii: " ") ? start + 1 : start)
    }
}
