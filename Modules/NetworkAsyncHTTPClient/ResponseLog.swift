#if AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// What the connections of a client see of responses, and AsyncHTTPClient does not show, such as their trailers; and
/// what they have to know of requests. A handler on each connection adds and reads the marks of the notes.
final class ResponseLog: Sendable {
    /// What a connection has to know of a request.
    struct RequestNote {
        /// The fields after the body.
        var trailers: NIOHTTP1.HTTPHeaders?
        /// The right to start it.
        let permit: StartPermit?
    }

    /// What is seen of one response.
    final class Entry: Sendable {
        /// The end of the response: how long its body was, where that is known, and its trailers.
        struct End {
            let length: Int64?
            let trailers: NIOHTTP1.HTTPHeaders?
        }

        private struct State {
            var end: End?
            var hasEndedEarly = false
            var onEarlyEnd: (@Sendable () -> Void)?
        }

        let isConnectionReused: Bool
        /// Whether the body has a coding, so that its length in the log is not that which is read.
        let isEncoded: Bool
        /// The connection, or the stream of one.
        let channel: any Channel
        private let state = Locked(State())

        init(isConnectionReused: Bool, isEncoded: Bool, channel: any Channel) {
            (self.isConnectionReused, self.isEncoded, self.channel) = (isConnectionReused, isEncoded, channel)
        }

        /// `nil`: it has not arrived.
        var end: End? { state.withLock { $0.end } }

        func receive(_ end: End) { state.withLock { $0.end = end } }

        /// Whether all of the response has been read, by the number of bytes of its body.
        func isWhole(after bytes: Int64) -> Bool { end?.length == bytes }

        /// Calls a closure when the whole response has arrived before the request was sent, and the rest of the request
        /// is not wanted: at once, if that has happened.
        func whenEndedEarly(_ action: @escaping @Sendable () -> Void) {
            let hasEnded = state.withLock { state in
                state.onEarlyEnd = action
                return state.hasEndedEarly
            }
            if hasEnded { action() }
        }

        func endEarly() {
            let action = state.withLock { state in
                state.hasEndedEarly = true
                return state.onEarlyEnd
            }
            action?()
        }
    }

    let requests = MarkedNotes<RequestNote>()
    /// The entries that no exchange has taken.
    let responses = MarkedNotes<Entry>()
    /// How many times its size a compressed body may have when it is decoded.
    let decompressionRatio: Int
    private let connected = Locked(false)

    init(decompressionRatio: Int) { self.decompressionRatio = decompressionRatio }

    /// Adds a handler to a connection, or to a stream of one, after its HTTP decoder.
    func attach(to channel: any Channel, isStream: Bool = false) throws -> ResponseLogHandler {
        let operations = channel.pipeline.syncOperations
        let handler = ResponseLogHandler(self, isStream: isStream)
        let decoder: any ChannelHandler =
            isStream
            ? try operations.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            : try operations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try operations.addHandler(handler, position: .after(decoder))
        recordConnection()
        return handler
    }

    func recordConnection() { connected.withLock { $0 = true } }

    /// Whether there has been a connection.
    var hadConnection: Bool { connected.withLock { $0 } }
}

/// Notes of messages under way, for an exchange and the handler on its connection. AsyncHTTPClient passes a head from
/// one to the other, and nothing else: a field of the head has the number of the note. It does not leave the transport.
final class MarkedNotes<Note: Sendable>: Sendable {
    private struct State {
        var last = 0
        var notes: [Int: Note] = [:]
    }

    /// The name is random, so that no field of a caller or a server can be taken for it.
    let field = "latchkey-\(UInt64.random(in: 0...UInt64.max))"
    private let state = Locked(State())

    /// Keeps a note, until it is removed. Returns its number, and the field that marks a head.
    func add(_ note: Note) -> (number: Int, mark: (name: String, value: String)) {
        let number = state.withLock { state in
            state.last += 1
            state.notes[state.last] = note
            return state.last
        }
        return (number, (field, String(number)))
    }

    /// The note of a number. `nil`: it was removed, and cannot be set again.
    subscript(number: Int) -> Note? {
        get { state.withLock { $0.notes[number] } }
        set { state.withLock { if $0.notes[number] != nil { $0.notes[number] = newValue } } }
    }

    @discardableResult
    func remove(_ number: Int) -> Note? { state.withLock { $0.notes.removeValue(forKey: number) } }

    /// Takes the mark out of a head. Returns the number. `nil`: the head has no mark.
    func takeMark(from headers: inout NIOHTTP1.HTTPHeaders) -> Int? {
        guard let number = headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: field)
        return number
    }
}
#endif
