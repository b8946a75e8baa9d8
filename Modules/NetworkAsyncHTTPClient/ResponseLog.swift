#if AsyncHTTPClient
import ConcurrencyPrimitives
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// What the connections of a client see of responses, and AsyncHTTPClient does not show: their trailers.
///
/// A handler on each connection writes a number into a field of the head, by which the exchange finds what was seen.
/// The field replaces one that the server has sent, and is removed before the head leaves the transport.
final class ResponseLog: Sendable {
    private static let field = "latchkey-response"

    /// What is seen of one response.
    final class Entry: Sendable {
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
        let end = Locked<(isReached: Bool, length: Int64?, trailers: NIOHTTP1.HTTPHeaders?)>((false, nil, nil))
        private let early = Locked(Early.no)

        init(isConnectionReused: Bool, isEncoded: Bool, channel: any Channel) {
            (self.isConnectionReused, self.isEncoded, self.channel) = (isConnectionReused, isEncoded, channel)
        }

        /// Whether all of the response has been read, by the number of bytes of its body.
        func isWhole(after bytes: Int64) -> Bool { end.withLock { $0.isReached && $0.length == bytes } }

        /// Calls a closure when the whole response has arrived before the request was sent, and the rest of the request
        /// is not wanted: at once, if that has happened.
        func whenEndedEarly(_ action: @escaping @Sendable () -> Void) {
            let isEnded = early.withLock { early in
                if case .ended = early { return true }
                early = .awaited(action)
                return false
            }
            if isEnded { action() }
        }

        func endEarly() {
            let before = early.withLock { early in
                defer { early = .ended }
                return early
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
    private let state = Locked(State())

    /// Adds a handler to a connection, or to a stream of one, between its HTTP decoder and the decompressor.
    func attach(to channel: any Channel, isStream: Bool = false) throws -> ResponseLogHandler {
        let operations = channel.pipeline.syncOperations
        let decompressor = try operations.handler(type: NIOHTTPResponseDecompressor.self)
        let handler = ResponseLogHandler(self, isStream: isStream)
        try operations.addHandler(handler, position: .before(decompressor))
        recordConnection()
        return handler
    }

    func recordConnection() { state.withLock { $0.hadConnection = true } }

    /// Whether there has been a connection.
    var hadConnection: Bool { state.withLock { $0.hadConnection } }

    /// Takes the number out of a head, and the entry out of the log.
    func take(from headers: inout NIOHTTP1.HTTPHeaders) -> Entry? {
        guard let number = headers.first(name: Self.field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: Self.field)
        return remove(number)
    }

    /// Removes a field that only this log may set.
    func strip(_ headers: inout NIOHTTP1.HTTPHeaders) { headers.remove(name: Self.field) }

    func begin(_ headers: inout NIOHTTP1.HTTPHeaders, of entry: Entry) -> Int {
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = entry
            return state.last
        }
        headers.replaceOrAdd(name: Self.field, value: "\(number)")
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
