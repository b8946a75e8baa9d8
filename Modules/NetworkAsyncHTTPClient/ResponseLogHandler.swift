#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkExchange

/// Notes the responses of one connection for their exchanges, and passes on nothing that AsyncHTTPClient does not
/// expect: that library ends the process for a body without a head that it has accepted, and for a second head.
final class ResponseLogHandler: ChannelInboundHandler, ChannelOutboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The request of the connection.
    private enum Request {
        /// Its head was sent. `permit`: the right to send its body.
        case sending(permit: StartPermit?)
        /// None was begun yet, or all of it was sent.
        case sent
        /// It was refused before its body. Nothing more of the connection is written.
        case refused
    }

    /// The response to it.
    private enum Response {
        /// A request was begun. Heads with a status of 1xx may come, and one other.
        case awaited
        case body(Body)
        /// `held`: its end, where that is held back until its request was sent, or else its connection has closed.
        case ended(held: HTTPClientResponsePart?, followsRequest: Bool = false)
        /// Nothing more of the connection is read. What arrived is no response, or a stream is over: the response has
        /// ended before its request was sent.
        case closed(isOver: Bool)
    }

    private struct Body {
        /// Whether it has a coding, so that its length here is not that which is read.
        let isEncoded: Bool
        /// Whether the server does not want the rest of the request.
        let isRefusal: Bool
        /// How many bytes are to come. `nil`: not known.
        var bytesToCome: Int?
        /// How many bytes have arrived.
        var length: Int64 = 0
        /// The last part in an incomplete read. It becomes one part with the byte that follows.
        var held: ByteBuffer?
    }

    private let log: ResponseLog
    /// Whether it is a stream of HTTP/2.
    private let isStream: Bool
    private var request = Request.sent
    private var response = Response.ended(held: nil)
    /// What the exchange is told, from the head of its request on.
    private var note: ExchangeNote?
    private var hasResponded = false
    private var decodesBodies = false
    /// Whether a byte has arrived since the request was begun.
    var hasReceived = false
    /// Whether the last byte of what arrived is still to come. The end of a response is held back then.
    var isReadIncomplete = false
    private var context: ChannelHandlerContext?

    init(_ log: ResponseLog, isStream: Bool) { (self.log, self.isStream) = (log, isStream) }

    /// Whether the head of a response is to come.
    var isHeadAwaited: Bool { if case .awaited = response { true } else { false } }

    private var body: Body? { if case .body(let body) = response { body } else { nil } }

    /// Whether a request was sent whose response has not ended.
    var isResponseAwaited: Bool { isHeadAwaited || body != nil }

    /// How many bytes of the body are to come. `nil`: not known.
    var bytesToCome: Int? { body?.bytesToCome }

    private var isRequestSent: Bool { if case .sent = request { true } else { false } }

    private var isClosed: Bool { if case .closed = response { true } else { false } }

    private var isOver: Bool { if case .closed(isOver: true) = response { true } else { false } }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    // MARK: The request

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var data = data
        switch (unwrapOutboundIn(data), request) {
        case (_, .refused):
            promise?.fail(HTTPTransportError.notStarted)
            return
        case (.head(var head), _):
            hasReceived = false
            if !isClosed { response = .awaited }
            let taken = log.takeNote(from: &head.headers)
            self.note = taken.note
            request = .sending(permit: taken.note?.permit)
            guard taken.isMarked else { break }
            // An exchange that has ended has no right to send anything.
            guard let note = taken.note, note.permit?.start() ?? true else { return refuseToSend(context, promise) }
            data = wrapOutboundOut(.head(head))
        case (.body, .sending(let permit?)):
            request = .sending(permit: nil)
            guard permit.start() else { return refuseToSend(context, promise) }
        case (.end, .sending):
            request = .sent
            // Not in this call: AsyncHTTPClient may begin another request.
            if case .ended(_?, followsRequest: true) = response {
                context.eventLoop.assumeIsolated().execute { self.passOnEnd() }
            }
            if let trailers = note?.trailers { data = wrapOutboundOut(.end(trailers)) }
        case (.body, _), (.end, _): break
        }
        context.write(data, promise: promise)
    }

    /// G28. It was too late to start the request, or it was withdrawn while there was no connection for it. Not in this
    /// call: AsyncHTTPClient is at its own state.
    private func refuseToSend(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        request = .refused
        response = .closed(isOver: false)
        promise?.fail(HTTPTransportError.notStarted)
        context.eventLoop.assumeIsolated().execute {
            guard let context = self.context else { return }
            context.fireErrorCaught(HTTPTransportError.notStarted)
            context.close(promise: nil)
        }
    }

    // MARK: The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        hasReceived = true
        switch (unwrapInboundIn(data), response) {
        case (.head(let head), .awaited) where head.isInformational: context.fireChannelRead(data)
        case (.head(let head), .awaited) where (100...999).contains(head.status.code): receive(head, context)
        case (.body(let buffer), .body(let body)): receive(buffer, of: body, context)
        case (.end(let trailers), .body): end(trailers, context)
        case (.head, _), (.body, _), (.end, _): refuse(context)
        }
    }

    private func receive(_ received: NIOHTTP1.HTTPResponseHead, _ context: ChannelHandlerContext) {
        var head = received
        let length = head.headers.first(name: "Content-Length")
        // NIO's decoder accepts one that is too large for an `Int`.
        guard length.map(NetworkCore.HTTPResponseHead.isLength) ?? true else {
            return refuse(context, because: NetworkCore.HTTPResponseHead.noLength)
        }
        // It may be older than the request, and the response to that is still to come (RFC 9110 §15.5.9).
        if head.status == .requestTimeout { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        let bytesToCome = length.flatMap { Int($0) }
        let isEncoded = head.headers.contains(name: "Content-Encoding")
        if isEncoded { attachCompressedBody(context) }
        note?.receiveHead(on: context.channel, isConnectionReused: hasResponded)
        hasResponded = true
        response = .body(Body(isEncoded: isEncoded, isRefusal: head.status.code >= 300, bytesToCome: bytesToCome))
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func receive(_ buffer: ByteBuffer, of body: Body, _ context: ChannelHandlerContext) {
        var body = body
        body.bytesToCome? &-= buffer.readableBytes
        body.length += Int64(buffer.readableBytes)
        let held = body.held
        body.held = isReadIncomplete ? buffer : nil
        response = .body(body)
        var part = held ?? buffer
        if held != nil, !isReadIncomplete { part.writeImmutableBuffer(buffer) }
        if held != nil || !isReadIncomplete { context.fireChannelRead(wrapInboundOut(.body(part))) }
    }

    /// Passes on what is held back until a read is complete.
    func endRead() {
        guard case .body(var body) = response, let held = body.held else { return }
        body.held = nil
        response = .body(body)
        context?.fireChannelRead(wrapInboundOut(.body(held)))
    }

    private func end(_ trailers: NIOHTTP1.HTTPHeaders?, _ context: ChannelHandlerContext) {
        endRead()
        guard let body else { return }
        // Another request may have begun once the end is passed on.
        let isRequestSent = isRequestSent
        note?.receive(.init(length: body.isEncoded ? nil : body.length, trailers: trailers))
        // AsyncHTTPClient waits for the rest of the request. It must not have seen the end by then: it ends the process
        // when the connection closes after the last byte was sent and before its event loop has heard of that.
        let followsRequest = !isReadIncomplete && !isRequestSent && !isStream && !body.isRefusal
        let end = HTTPClientResponsePart.end(trailers)
        if isReadIncomplete || followsRequest {
            response = .ended(held: end, followsRequest: followsRequest)
        } else {
            response = .ended(held: nil)
            context.fireChannelRead(wrapInboundOut(end))
        }
        if !isRequestSent { endEarly(body, context) }
    }

    private func passOnEnd() {
        guard case .ended(let held?, _) = response else { return }
        response = .ended(held: nil)
        context?.fireChannelRead(wrapInboundOut(held))
    }

    /// Adds what decodes bodies, on a connection whose server compresses: elsewhere it would see each part in vain.
    private func attachCompressedBody(_ context: ChannelHandlerContext) {
        guard !decodesBodies else { return }
        decodesBodies = true
        do {
            try CompressedBodyHandler.attach(to: context.channel, after: self, ratio: log.decompressionRatio)
        } catch {
            context.fireErrorCaught(error)
        }
    }

    /// The response has ended before its request. AsyncHTTPClient waits for the rest of the request, also where no one
    /// wants it. On a stream of HTTP/2 it does not expect what may follow, and ends the process.
    private func endEarly(_ body: Body, _ context: ChannelHandlerContext) {
        if isStream || body.isRefusal { note?.endEarly() }
        guard isStream else { return }
        response = .closed(isOver: true)
        context.close(promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, because reason: String = HTTPTransportError.noStatus) {
        response = .closed(isOver: false)
        context.fireErrorCaught(HTTPTransportError(.invalidResponse, reason: reason))
        context.close(promise: nil)
    }

    // MARK: The connection

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelWritabilityChanged() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isClosed else { return }
        endRead()
        if HTTPTransportError.isClosedConnection(error), reportClosedConnection(context) { return }
        // What follows a response that has ended is no error of that response.
        if case .ended(_?, _) = response { return }
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard !isOver else { return }
        endRead()
        passOnEnd()
        reportClosedConnection(context)
        context.fireChannelInactive()
    }

    /// Says that a kept connection has closed before a byte of the response to its request: most likely before the
    /// server has seen the request (RFC 9110 §9.2.2).
    @discardableResult
    private func reportClosedConnection(_ context: ChannelHandlerContext) -> Bool {
        guard isHeadAwaited, !hasReceived, isConnectionReused(context) else { return false }
        response = .ended(held: nil)
        context.fireErrorCaught(KeptConnectionClosed())
        return true
    }

    private func isConnectionReused(_ context: ChannelHandlerContext) -> Bool {
        guard isStream, let connection = context.channel.parent else { return hasResponded }
        return (try? connection.pipeline.syncOperations.handler(type: HTTP2StatusHandler.self).hasResponded) ?? false
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // It refers to the channel, and so to this handler.
        note = nil
        self.context = nil
    }
}

/// A connection that had been used before has closed before a byte of the response.
struct KeptConnectionClosed: Error {}

extension NIOHTTP1.HTTPResponseHead {
    /// Whether another head follows. After 101, no HTTP does.
    fileprivate var isInformational: Bool { (100..<200).contains(status.code) && status != .switchingProtocols }
}
#endif
