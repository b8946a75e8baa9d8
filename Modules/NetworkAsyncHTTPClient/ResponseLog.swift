#if AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// What an exchange and the handler on its connection tell each other, and AsyncHTTPClient does not pass on.
final class ExchangeNote: Sendable {
    /// The end of a response: how long its body was, where that is known, and its trailers.
    struct End {
        let length: Int64?
        let trailers: NIOHTTP1.HTTPHeaders?
    }

    private struct State {
        var trailers: NIOHTTP1.HTTPHeaders?
        /// The connection of the response, or the stream of one.
        var channel: (any Channel)?
        var isConnectionReused: Bool?
        var end: End?
        var hasEndedEarly = false
        var onEarlyEnd: (@Sendable () -> Void)?
    }

    private static let lastNumber = Locked(0)

    fileprivate let number: Int
    /// The right to start the request.
    let permit: StartPermit?
    private let state = Locked(State())

    init(permit: StartPermit?) {
        self.permit = permit
        number = Self.lastNumber.withLock { last in
            last += 1
            return last
        }
    }

    /// The fields after the body of the request.
    var trailers: NIOHTTP1.HTTPHeaders? {
        get { state.withLock { $0.trailers } }
        set { state.withLock { $0.trailers = newValue } }
    }

    /// `nil`: no response has arrived.
    var channel: (any Channel)? { state.withLock { $0.channel } }
    var isConnectionReused: Bool? { state.withLock { $0.isConnectionReused } }
    var end: End? { state.withLock { $0.end } }

    /// The head of the response has arrived.
    func receiveHead(on channel: any Channel, isConnectionReused: Bool) {
        state.withLock { state in
            state.channel = channel
            state.isConnectionReused = isConnectionReused
        }
    }

    func receive(_ end: End) { state.withLock { $0.end = end } }

    /// Whether all of the response has been read, by the number of bytes of its body.
    func isWhole(after bytes: Int64) -> Bool { end?.length == bytes }

    /// Calls a closure when the whole response has arrived before the request was sent, and the rest of the request is
    /// not wanted: at once, if that has happened.
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

/// The notes of the exchanges of a client. AsyncHTTPClient passes the head of a request to a connection, and nothing
/// else: a field of it names the note. A handler on each connection takes it out, so that it does not leave the
/// transport.
final class ResponseLog: Sendable {
    private struct State {
        var notes: [Int: ExchangeNote] = [:]
        var hadConnection = false
    }

    /// The name is random, so that no field of a caller can be taken for it.
    private let field = "latchkey-\(UInt64.random(in: 0...UInt64.max))"
    /// How many times its size a compressed body may have when it is decoded.
    let decompressionRatio: Int
    private let state = Locked(State())

    init(decompressionRatio: Int) { self.decompressionRatio = decompressionRatio }

    /// Keeps a note, until it is removed. Returns the field that marks its request.
    func add(_ note: ExchangeNote) -> (name: String, value: String) {
        state.withLock { $0.notes[note.number] = note }
        return (field, String(note.number))
    }

    func remove(_ note: ExchangeNote) { state.withLock { $0.notes[note.number] = nil } }

    /// Takes the mark out of the head of a request. Returns whether it has one, and its note, unless that was removed.
    func takeNote(from headers: inout NIOHTTP1.HTTPHeaders) -> (isMarked: Bool, note: ExchangeNote?) {
        guard let number = headers.first(name: field).flatMap({ Int($0) }) else { return (false, nil) }
        headers.remove(name: field)
        return (true, state.withLock { $0.notes[number] })
    }

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

    func recordConnection() { state.withLock { $0.hadConnection = true } }

    /// Whether there has been a connection.
    var hadConnection: Bool { state.withLock { $0.hadConnection } }
}
#endif
