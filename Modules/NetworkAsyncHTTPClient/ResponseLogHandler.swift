#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import ConcurrencyPrimitives
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkExchange

/// Writes the responses of one connection to the log, and passes on nothing that AsyncHTTPClient does not expect: that
/// library ends the process for a body without a head that it has accepted, and for a second head.
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
    /// The number of the request that is being sent, where there is a note of it.
    private var noteNumber: Int?
    /// The right to send the body of the request.
    private var permit: StartPermit?
    /// Whether a request was refused before its body. Nothing more of the connection is written.
    private var isSilent = false
    private var current: (number: Int, entry: ResponseLog.Entry)?
    private var hasResponded = false
    private var decodesBodies = false
    private var isHead = false
    /// Whether the whole request was sent.
    private var isRequestSent = false
    /// Whether a byte has arrived since the request was begun.
    var hasReceived = false
    private var phase = Phase.ended
    /// Whether the server does not want the rest of a request.
    private var isRefusal = false
    /// The last part of the body in an incomplete read. It becomes one part with the byte that follows.
    private var heldBody: ByteBuffer?
    /// The end of a response that is held back, at most until its connection has closed.
    private var heldEnd: HTTPClientResponsePart?
    /// Whether that end is held back until the request was sent, and not longer.
    private var endFollowsRequest = false
    private var context: ChannelHandlerContext?

    /// How far the response is.
    private enum Phase {
        /// A request was sent. Heads with a status of 1xx may come, and one other.
        case head
        case body
        case ended
        /// What arrived is no response. Nothing more of the connection is read.
        case refused
        /// A stream has ended before its request was sent.
        case over
    }

    /// Whether a request was sent whose response has not ended.
    var isResponseAwaited: Bool { phase == .head || phase == .body }
    /// Whether the head of a response is to come.
    var isHeadAwaited: Bool { phase == .head }
    /// How many bytes of the body are to come. `nil`: not known.
    private(set) var bytesToCome: Int?
    /// How many bytes of the body have arrived.
    private var bodyLength: Int64 = 0
    /// Whether the last byte of what arrived is still to come. The end of a response is held back then.
    var isReadIncomplete = false

    init(_ log: ResponseLog, isStream: Bool) {
        (self.log, self.isStream) = (log, isStream)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    /// Passes on what is held back until a read is complete.
    func endRead() {
        guard let body = heldBody else { return }
        heldBody = nil
        context?.fireChannelRead(wrapInboundOut(.body(body)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isSilent else {
            promise?.fail(HTTPTransportError.notStarted)
            return
        }
        var data = data
        switch unwrapOutboundIn(data) {
        case .head(var head):
            (isHead, isRequestSent, hasReceived, permit) = (head.method == .HEAD, false, false, nil)
            if phase != .refused { phase = .head }
            noteNumber = log.requests.takeMark(from: &head.headers)
            guard let number = noteNumber else { break }
            // An exchange that has ended has no right to send anything.
            guard let note = log.requests[number], note.permit?.start() ?? true else {
                return refuseToSend(context, promise)
            }
            permit = note.permit
            data = wrapOutboundOut(.head(head))
        case .end:
            isRequestSent = true
            // Not in this call: AsyncHTTPClient may begin another request.
            if endFollowsRequest { context.eventLoop.assumeIsolated().execute { self.passOnEnd() } }
            if let number = noteNumber, let trailers = log.requests[number]?.trailers {
                data = wrapOutboundOut(.end(trailers))
            }
        case .body:
            guard let permit else { break }
            self.permit = nil
            guard permit.start() else { return refuseToSend(context, promise) }
        }
        context.write(data, promise: promise)
    }

    /// G28. It was too late to start the request, or it was withdrawn while there was no connection for it. Not in this
    /// call: AsyncHTTPClient is at its own state.
    private func refuseToSend(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        (phase, isSilent) = (.refused, true)
        promise?.fail(HTTPTransportError.notStarted)
        context.eventLoop.assumeIsolated().execute {
            guard let context = self.context else { return }
            context.fireErrorCaught(HTTPTransportError.notStarted)
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .refused, phase != .over else { return }
        hasReceived = true
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head) where phase == .head && head.isInformational: context.fireChannelRead(data)
        case .head(var head) where phase == .head && (100...999).contains(head.status.code):
            let length = head.headers.first(name: "Content-Length")
            // NIO's decoder accepts one that is too large for an `Int`.
            guard length.map(NetworkCore.HTTPResponseHead.isLength) ?? true else {
                return refuse(context, because: NetworkCore.HTTPResponseHead.noLength)
            }
            // It may be older than the request, and the response to that is still to come (RFC 9110 §15.5.9).
            if head.status == .requestTimeout { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            phase = .body
            bytesToCome = length.flatMap { Int($0) }
            // A response without a body has nothing to decode; the decoder would call it cut short.
            if isHead || head.status == .noContent || head.status == .notModified || bytesToCome == 0 {
                head.headers.remove(name: "Content-Encoding")
            }
            let isEncoded = head.headers.contains(name: "Content-Encoding")
            if isEncoded { attachCompressedBody(context) }
            bodyLength = 0
            forget(in: context)
            let entry = ResponseLog.Entry(
                isConnectionReused: hasResponded, isEncoded: isEncoded, channel: context.channel)
            let (number, mark) = log.responses.add(entry)
            head.headers.add(name: mark.name, value: mark.value)
            current = (number, entry)
            (hasResponded, isRefusal) = (true, head.status.code >= 300)
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .head: refuse(context)
        case .body where phase != .body, .end where phase != .body: refuse(context)
        case .body(var buffer):
            bytesToCome? &-= buffer.readableBytes
            bodyLength += Int64(buffer.readableBytes)
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
            if let entry = current?.entry {
                let length = entry.isEncoded ? nil : bodyLength
                entry.receive(.init(length: length, trailers: trailers))
            }
            (phase, bytesToCome) = (.ended, nil)
            // AsyncHTTPClient waits for the rest of the request. It must not have seen the end by then: it ends the
            // process when the connection closes after the last byte was sent and before its event loop has heard of
            // that.
            endFollowsRequest = !isReadIncomplete && !isRequestSent && !isStream && !isRefusal
            if isReadIncomplete || endFollowsRequest { heldEnd = part } else { context.fireChannelRead(data) }
            if !isRequestSent { endEarly(context) }
        }
    }

    /// Adds what decodes bodies, on a connection whose server compresses: elsewhere each part of each response would
    /// pass through it in vain.
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
    private func endEarly(_ context: ChannelHandlerContext) {
        if isStream || isRefusal { current?.entry.endEarly() }
        guard isStream else { return }
        phase = .over
        context.close(promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, because reason: String = HTTPTransportError.noStatus) {
        (phase, heldBody, heldEnd, bytesToCome) = (.refused, nil, nil, nil)
        context.fireErrorCaught(HTTPTransportError(.invalidResponse, reason: reason))
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if phase != .over { context.fireChannelWritabilityChanged() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard phase != .over, phase != .refused else { return }
        endRead()
        if HTTPTransportError.isClosedConnection(error), reportClosedConnection(context) { return }
        // What follows a response that has ended is no error of that response.
        if heldEnd == nil { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard phase != .over else { return }
        endRead()
        passOnEnd()
        reportClosedConnection(context)
        context.fireChannelInactive()
    }

    /// Says that a kept connection has closed before a byte of the response to its request: most likely before the
    /// server has seen the request (RFC 9110 §9.2.2).
    @discardableResult
    private func reportClosedConnection(_ context: ChannelHandlerContext) -> Bool {
        guard phase == .head, !hasReceived, isConnectionReused(context) else { return false }
        phase = .ended
        context.fireErrorCaught(KeptConnectionClosed())
        return true
    }

    private func isConnectionReused(_ context: ChannelHandlerContext) -> Bool {
        guard isStream, let connection = context.channel.parent else { return hasResponded }
        return (try? connection.pipeline.syncOperations.handler(type: HTTP2StatusHandler.self).hasResponded) ?? false
    }

    private func passOnEnd() {
        endFollowsRequest = false
        guard let end = heldEnd else { return }
        heldEnd = nil
        context?.fireChannelRead(wrapInboundOut(end))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget(in: context)
        self.context = nil
    }

    private func forget(in context: ChannelHandlerContext) {
        guard let number = current?.number, log.responses[number] != nil else { return }
        context.eventLoop.scheduleTask(in: Self.timeToTake) { [log] in log.responses.remove(number) }
    }
}

/// A connection that had been used before has closed before a byte of the response.
struct KeptConnectionClosed: Error {}

extension NIOHTTP1.HTTPResponseHead {
    /// Whether another head follows. After 101, no HTTP does.
    fileprivate var isInformational: Bool { (100..<200).contains(status.code) && status != .switchingProtocols }
}
#endif
