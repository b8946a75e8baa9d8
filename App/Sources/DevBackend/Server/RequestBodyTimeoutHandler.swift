import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Stops reading a body that the client does not send in time.
///
/// Only the time of waiting for the client counts, not the time in which the server does not read. The limits also
/// apply to a body that no handler reads, which the server discards after its response.
final class RequestBodyTimeoutHandler: ChannelDuplexHandler, RemovableChannelHandler {
    /// The client did not send the rest of a body in time.
    struct TimedOut: Error {}

    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let idleTimeout: TimeAmount
    private let totalTimeout: TimeAmount
    private var isBodyIncomplete = false
    private var remaining = TimeAmount.zero
    private var waiting: (since: NIODeadline, timeout: Scheduled<Void>)?

    init(idleTimeout: Duration, totalTimeout: Duration) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.totalTimeout = TimeAmount(totalTimeout)
    }

    func read(context: ChannelHandlerContext) {
        // A repeated read continues the same wait: bytes that are no part of the body do not count.
        if isBodyIncomplete, waiting == nil { startWaiting(context) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stopWaiting()
        switch unwrapInboundIn(data) {
        case .head:
            isBodyIncomplete = true
            remaining = totalTimeout
        case .body: break
        case .end: isBodyIncomplete = false
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopWaiting()
        isBodyIncomplete = false
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopWaiting()
    }

    private func startWaiting(_ context: ChannelHandlerContext) {
        let timeout = context.eventLoop.assumeIsolated().scheduleTask(in: min(idleTimeout, remaining)) {
            self.waiting = nil
            self.isBodyIncomplete = false
            context.fireErrorCaught(TimedOut())
        }
        waiting = (NIODeadline.now(), timeout)
    }

    private func stopWaiting() {
        guard let waiting else { return }
        waiting.timeout.cancel()
        remaining = max(.zero, remaining - (NIODeadline.now() - waiting.since))
        self.waiting = nil
    }
}
