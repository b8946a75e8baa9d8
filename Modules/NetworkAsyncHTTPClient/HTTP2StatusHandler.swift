#if AsyncHTTPClient
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Makes a `:status` that is no status of HTTP/2 one that ``ResponseLogHandler`` refuses: NIO and AsyncHTTPClient end
/// the process for one that is negative or empty, for one that begins with 1 and is not followed by the head that they
/// expect then, and for 101.
///
/// It makes the streams that a GOAWAY names as not processed streams that were refused (RFC 9113 §6.8): NIO calls them
/// cancelled. It handles all streams of a connection, so that no stream needs a handler more.
final class HTTP2StatusHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private static let refused = HPACKHeaders([(":status", "000")])

    /// Whether the server has responded to a request.
    private(set) var hasResponded = false
    /// The last stream that the server may process. `nil`: it has not said that it goes away.
    private var lastStream: HTTP2StreamID?

    /// Adds the handler to a connection, before the streams are told apart.
    static func attach(to channel: any Channel) throws {
        let operations = channel.pipeline.syncOperations
        let decoder = try operations.handler(type: NIOHTTP2Handler.self)
        try operations.addHandler(HTTP2StatusHandler(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        if case .goAway(let last, _, _) = frame.payload { lastStream = last }
        guard case .headers(var content) = frame.payload, let status = content.headers.first(name: ":status"),
            !Self.isStatus(status)
        else {
            if case .headers = frame.payload { hasResponded = true }
            return context.fireChannelRead(data)
        }
        content.headers = Self.refused
        frame.payload = .headers(content)
        context.fireChannelRead(wrapInboundOut(frame))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let closed = event as? StreamClosedEvent, closed.reason == .cancel, let lastStream,
            closed.streamID > lastStream
        else { return context.fireUserInboundEventTriggered(event) }
        context.fireUserInboundEventTriggered(StreamClosedEvent(streamID: closed.streamID, reason: .refusedStream))
    }

    /// Three digits from 100 (RFC 9110 §15), and not 101, which HTTP/2 does not have (RFC 9113 §8.6).
    private static func isStatus(_ text: String) -> Bool {
        text.utf8.count == 3 && (Int(text).map((100...999).contains) ?? false) && text != "101"
    }
}
#endif
