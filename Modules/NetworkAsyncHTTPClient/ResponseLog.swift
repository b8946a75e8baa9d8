#if AsyncHTTPClient
import ConcurrencyPrimitives
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// What the connections of a client see of responses, and AsyncHTTPClient does not show: their trailers.
///
/// A handler on each connection adds a field with a number to the head, by which the exchange finds what was seen. The
/// field does not leave the transport.
final class ResponseLog: Sendable {
    /// The name is random, so that no field of a server can be taken for it.
    private let field = "latchkey-\(UInt64.random(in: 0...UInt64.max))"

    /// What is seen of one response.
    final class Entry: Sendable {
        /// The end of the response: how long its body was, where that is known, and its trailers.
        struct End {
            let length: Int64?
            let trailers: NIOHTTP1.HTTPHeaders?
        }

        private enum Early {
            case no
            case awaited(@Sendable () -> Void)
            case ended
        }

        let isConnectionReused: Bool
        /// Whether the body has a coding, so that its length in the log is not that which is read.
        let isEncoded: Bool
        /// The connection, or the stream of one.
        let channel: any Channel
        private let state = Locked<(end: End?, early: Early)>((nil, .no))

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
            let isEnded = state.withLock { state in
                if case .ended = state.early { return true }
                state.early = .awaited(action)
                return false
            }
            if isEnded { action() }
        }

        func endEarly() {
            let before = state.withLock { state in
                defer { state.early = .ended }
                return state.early
            }
            if case .awaited(let action) = before { action() }
        }
    }

    private struct State {
        var hadConnection = false
        var last = 0
        /// The entries that no exchange has taken.
        var entries: [Int: Entry] = [:]
    }

    let requests = RequestNotes()
    /// How many times its size a compressed body may have when it is decoded.
    let decompressionRatio: Int
    private let state = Locked(State())

    init(decompressionRatio: Int) { self.decompressionRatio = decompressionRatio }

    /// Adds a handler to a connection, or to a stream of one, after its HTTP decoder.
    func attach(to channel: any Channel, isStream: Bool = false) throws -> ResponseLogHandler {
        let operations = channel.pipeline.syncOperations
        let handler = ResponseLogHandler(self, isStream: isStream)
        if isStream {
            let decoder = try operations.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            try operations.addHandler(handler, position: .after(decoder))
        } else {
            let decoder = try operations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try operations.addHandler(handler, position: .after(decoder))
        }
        recordConnection()
        return handler
    }

    func recordConnection() { state.withLock { $0.hadConnection = true } }

    /// Whether there has been a connection.
    var hadConnection: Bool { state.withLock { $0.hadConnection } }

    /// Whether a field of a head names an entry, and does not leave the transport.
    func isMark(_ name: String) -> Bool { name == field }

    /// Takes the entry that a field names.
    func take(_ value: String) -> Entry? { Int(value).flatMap { remove($0) } }

    func begin(_ headers: inout NIOHTTP1.HTTPHeaders, of entry: Entry) -> Int {
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = entry
            return state.last
        }
        headers.add(name: field, value: String(number))
        return number
    }

    @discardableResult
    func remove(_ number: Int) -> Entry? {
        state.withLock { $0.entries.removeValue(forKey: number) }
    }

    /// Whether no exchange has taken an entry.
    func hasEntry(_ number: Int) -> Bool {
        state.withLock { $0.entries[number] != nil }
    }
}
#endif
