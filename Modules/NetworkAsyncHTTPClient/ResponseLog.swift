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
        /// The connection, or the stream of one.
        let channel: any Channel
        let end = Locked<(isReached: Bool, trailers: NIOHTTP1.HTTPHeaders?)>((false, nil))
        private let early = Locked(Early.no)

        init(isConnectionReused: Bool, channel: any Channel) {
            (self.isConnectionReused, self.channel) = (isConnectionReused, channel)
        }

        /// Calls a closure when the whole response has arrived before the request was sent, and the rest of the request is
        /// not wanted: at once, if that has happened.
        func whenEndedEarly(_ action: @escaping @Sendable () -> Void) {
            let hasEnded = early.withLock { early in
                if case .ended = early { return true }
                early = .awaited(action)
                return false
            }
            if hasEnded { action() }
        }

        fileprivate func endEarly() {
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

    let requestTrailers = RequestTrailers()
    private let state = Locked(State())

    /// Adds a handler to a connection, or to a stream of one, between its HTTP decoder and the decompressor.
    func attach(to channel: any Channel, isStream: Bool = false) throws -> ResponseLogHandler {
        let operations = channel.pipeline.syncOperations
        let decompressor = try operations.handler(type: NIOHTTPResponseDecompressor.self)
        let handler = ResponseLogHandler(self, isStream: isStream)
        try operations.addHandler(handler, position: .before(decompressor))
        noteConnection()
        return handler
    }

    func noteConnection() { state.withLock { $0.hadConnection = true } }

    /// Whether there has been a connection.
    var hadConnection: Bool { state.withLock { $0.hadConnection } }

    /// Takes the number out of a head, and the entry out of the log.
    func take(from headers: inout NIOHTTP1.HTTPHeaders) -> Entry? {
        guard let number = headers.first(name: Self.field).flatMap({ Int($0) }) else { return nil }
        headers.remove(name: Self.field)
        return remove(number)
    }

    /// Removes a field that only this log may set.
    fileprivate func strip(_ headers: inout NIOHTTP1.HTTPHeaders) { headers.remove(name: Self.field) }

    fileprivate func begin(_ headers: inout NIOHTTP1.HTTPHeaders, of entry: Entry) -> Int {
        let number = state.withLock { state in
            state.last += 1
            state.entries[state.last] = entry
            return state.last
        }
        headers.replaceOrAdd(name: Self.field, value: "\(number)")
        return number
    }

    @discardableResult
    fileprivate func remove(_ number: Int) -> Entry? {
        state.withLock { $0.entries.removeValue(forKey: number) }
    }

    /// Whether no exchange has taken an entry.
    fileprivate func hasEntry(_ number: Int) -> Bool {
        state.withLock { $0.entries[number] != nil }
    }
}

/// Writes the responses of one connection to the log.
final class ResponseLogHandler: ChannelInboundHandler, ChannelOutboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The exchange of a response takes its entry soon after the head, unless it was cancelled.
    private static let timeToTake = TimeAmount.seconds(60)

    private let log: ResponseLog
    /// Whether it is a stream of HTTP/2.
    private let isStream: Bool
    /// The number of the request that is being sent, where it has trailers.
    private var trailersToSend: Int?
    private var current: (number: Int, entry: ResponseLog.Entry)?
    private var hasResponded = false
    private var isHead = false
    /// Whether the whole request was sent.
    private var isRequestSent = false
    /// Whether a stream has ended before its request was sent.
    private var isOver = false
    /// Whether the server does not want the rest of a request.
    private var isRefusal = false
    /// The last part of the body in an incomplete read. It becomes one part with the byte that follows.
    private var heldBody: ByteBuffer?
    /// The end of a response that is held back until its connection has closed.
    private var heldEnd: HTTPClientResponsePart?
    private var context: ChannelHandlerContext?

    /// Whether a request was sent whose response has not ended.
    private(set) var isResponseAwaited = false
    /// How many bytes of the body are to come. `nil`: not known.
    private(set) var bytesToCome: Int?
    /// Whether the last byte of what arrived is still to come. The end of a response is held back then.
    var isReadIncomplete = false

    init(_ log: ResponseLog, isStream: Bool) {
        (self.log, self.isStream) = (log, isStream)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    /// Passes on what is held back until a read is complete.
    func endRead() {
        guard let body = heldBody else { return }
        heldBody = nil
        context?.fireChannelRead(wrapInboundOut(.body(body)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        switch unwrapOutboundIn(data) {
        case .head(var head):
            (isHead, isResponseAwaited, isRequestSent) = (head.method == .HEAD, true, false)
            trailersToSend = log.requestTrailers.take(from: &head.headers)
            if trailersToSend != nil { data = wrapOutboundOut(.head(head)) }
        case .end:
            isRequestSent = true
            if let number = trailersToSend { data = wrapOutboundOut(.end(log.requestTrailers.fields(of: number))) }
        case .body: break
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(var head) where head.status.code >= 200 || head.status == .switchingProtocols:
            bytesToCome = head.headers.first(name: "Content-Length").flatMap { Int($0) }
            // A response without a body has nothing to decode; the decoder would call it cut short.
            if isHead || head.status == .noContent || head.status == .notModified || bytesToCome == 0 {
                head.headers.remove(name: "Content-Encoding")
            }
            forget(in: context)
            let entry = ResponseLog.Entry(isConnectionReused: hasResponded, channel: context.channel)
            current = (log.begin(&head.headers, of: entry), entry)
            (hasResponded, isRefusal) = (true, head.status.code >= 300)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .head(var head):
            log.strip(&head.headers)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(var buffer):
            bytesToCome? -= buffer.readableBytes
            if isReadIncomplete {
                endRead()
                heldBody = buffer
            } else if var whole = heldBody {
                heldBody = nil
                whole.writeBuffer(&buffer)
                context.fireChannelRead(wrapInboundOut(.body(whole)))
            } else {
                context.fireChannelRead(data)
            }
        case .end(let trailers):
            endRead()
            current?.entry.end.withLock { $0 = (true, trailers) }
            (isResponseAwaited, bytesToCome) = (false, nil)
            if isReadIncomplete { heldEnd = part } else { context.fireChannelRead(data) }
            if !isRequestSent { endEarly(context) }
        }
    }

    /// The response has ended before its request. AsyncHTTPClient waits for the rest of the request, also where no one
    /// wants it. On a stream of HTTP/2 it does not expect what may follow, and ends the process.
    private func endEarly(_ context: ChannelHandlerContext) {
        if isStream || isRefusal { current?.entry.endEarly() }
        guard isStream else { return }
        isOver = true
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelWritabilityChanged() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver else { return }
        endRead()
        // What follows a response that has ended is no error of that response.
        if heldEnd == nil { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard !isOver else { return }
        endRead()
        if let end = heldEnd {
            heldEnd = nil
            context.fireChannelRead(wrapInboundOut(end))
        }
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget(in: context)
        self.context = nil
    }

    private func forget(in context: ChannelHandlerContext) {
        guard let number = current?.number, log.hasEntry(number) else { return }
        context.eventLoop.scheduleTask(in: Self.timeToTake) { [log] in log.remove(number) }
    }
}
#endif
