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
        _ type: Value.Type = Value.self, coding: JSONCoding = .standard
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

    /// The lines of data of the event so far count for the limit.
    private var lines: LineSplitter

    /// The id, type and data of the event so far. `nil`: no line had one, or the type is empty.
    private var (id, type, data): (String?, String?, String?)

    init(lastEventID: String = "", limit: Int) {
        self.lastEventID = lastEventID
        lines = LineSplitter(limit: limit, of: "an event", endsAtCR: true)
    }

    /// Takes the next piece, when ``next()`` has found all events of the one before.
    mutating func take(_ piece: Data) { lines.take(piece) }

    /// Finds the next event that the pieces so far complete. Returns the event. `nil`: it needs another piece.
    ///
    /// - Throws: `NetworkError` with code `responseTooLarge`, each time from then on: the event is over the limit.
    mutating func next() throws -> ServerSentEvent? {
        while let line = try lines.next() {
            guard line.isEmpty else {
                readField(line)
                continue
            }
            if let event = endEvent() { return event }
        }
        return nil
    }

    private mutating func readField(_ line: [UInt8]) {
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(name.count + 1)
        // One space before the value does not belong to it.
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // No character lies in two lines, so each line is decoded by itself.
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case "event":
            type = text.isEmpty ? nil : text
        case "data":
            lines.bytesBefore += value.count + 1
            if data == nil { data = text } else { data?.append("\n" + text) }
        case "id" where !value.contains(0):
            id = text
        case "retry" where !value.isEmpty && value.allSatisfy { Self.digits.contains($0) }:
            // A number that is too large to read is longer than the longest pause too.
            retry = .milliseconds(Int64(text) ?? .max)
        default:
            break
        }
    }

    private mutating func endEvent() -> ServerSentEvent? {
        if let id = id.take() { lastEventID = id }
        let type = type.take()
        lines.bytesBefore = 0
        guard let data = data.take() else { return nil }
        return ServerSentEvent(id: lastEventID, type: type ?? "message", data: data)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}
