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
    /// The bytes of the pieces. Those before `start` were read, and none from there to `searched` ends a line.
    private var (bytes, start, searched) = ([UInt8](), 0, 0)
    private var ends = LineEnds()
    private var endedWithCR = false
    private var fields: EventFields
    private let limit: Int

    init(lastEventID: String = "", limit: Int) {
        fields = EventFields(lastEventID: lastEventID)
        self.limit = limit
    }

    /// The id for `Last-Event-ID`: of the last event that was complete.
    var lastEventID: String { fields.lastEventID }

    /// The pause before a reconnection that the server asked for.
    var retry: Duration? { fields.retry }

    /// Takes the next piece, when ``next()`` has found all events of the one before.
    mutating func take(_ piece: Data) {
        bytes.removeFirst(start)
        (start, searched, ends) = (0, bytes.count, LineEnds())
        piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
        guard endedWithCR, let first = piece.first else { return }
        endedWithCR = false
        if first == Self.lf { start = 1 }
    }

    /// Finds the next event that the pieces so far complete. Returns the event. `nil`: it needs another piece.
    ///
    /// - Throws: `NetworkError` with code `responseTooLarge`, each time from then on: the event is over the limit.
    mutating func next() throws -> ServerSentEvent? {
        try bytes.withUnsafeBytes { bytes in
            while let end = ends.next(in: bytes, from: max(start, searched)) {
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                guard fields.dataCount + line.count <= limit else { throw Self.tooLarge(limit) }
                start = end + 1
                if bytes[end] == Self.cr {
                    if start == bytes.count { endedWithCR = true } else if bytes[start] == Self.lf { start += 1 }
                }
                // Unwrapped it would be copied.
                let event = fields.read(line)
                if event != nil { return event }
            }
            guard fields.dataCount + bytes.count - start <= limit else { throw Self.tooLarge(limit) }
            return nil
        }
    }

    private static func tooLarge(_ limit: Int) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "an event has more than \(limit) bytes")
    }

    private static let lf = UInt8(ascii: "\n")
    private static let cr = UInt8(ascii: "\r")
}

/// The fields of an event, read line by line.
private struct EventFields {
    private(set) var lastEventID: String
    private(set) var retry: Duration?

    /// The bytes of the lines of data so far, as they were sent.
    private(set) var dataCount = 0

    /// The id, type and data of the event so far. `nil`: no line had one, or the type is empty.
    private var (id, type, data): (String?, String?, String?)
    private var isFirstLine = true

    init(lastEventID: String) {
        self.lastEventID = lastEventID
    }

    /// Reads a line. Returns the event that it completes.
    mutating func read(_ line: UnsafeRawBufferPointer) -> ServerSentEvent? {
        var line = line
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: "\u{FEFF}") { line = line.from(3) }
        }
        guard !line.isEmpty else { return endEvent() }
        // Nearly every line is one of these.
        if line.starts(with: "data:") {
            addData(line.fieldValue(from: 5))
            return nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":"), from: 0) ?? line.count
        let value = line.fieldValue(from: min(colon + 1, line.count))
        switch String(decoding: UnsafeRawBufferPointer(rebasing: line[..<colon]), as: UTF8.self) {
        case "event":
            type = value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
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
        if let id = id.take() { lastEventID = id }
        let type = type.take()
        dataCount = 0
        guard let data = data.take() else { return nil }
        return ServerSentEvent(id: lastEventID, type: type ?? "message", data: data)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
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
