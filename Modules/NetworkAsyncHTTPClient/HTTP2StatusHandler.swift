#if AsyncHTTPClient
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Makes a `:status` that is no status of HTTP/2 one that ``ResponseLogHandler`` refuses: NIO and AsyncHTTPClient end the
/// process for one that is negative or empty, for one that begins with 1 and is not followed by the head that they expect
/// then, and for 101.
///
/// It handles all streams of a connection, so that no stream needs a handler more.
final class HTTP2StatusHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private static let refused = HPACKHeaders([(":status", "000")])

    /// Adds the handler to a connection, before the streams are told apart.
    static func attach(to channel: any Channel) throws {
        let operations = channel.pipeline.syncOperations
        let decoder = try operations.handler(type: NIOHTTP2Handler.self)
        try operations.addHandler(HTTP2StatusHandler(), position: .after(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        guard case .headers(var content) = frame.payload, let status = content.headers.first(name: ":status"),
            !Self.isStatus(status)
        else { return context.fireChannelRead(data) }
        content.headers = Self.refused
        frame.payload = .headers(content)
        context.fireChannelRead(wrapInboundOut(frame))
    }

    /// Three digits from 100 (RFC 9110 §15), and not 101, which HTTP/2 does not have (RFC 9113 §8.6).
    private static func isStatus(_ text: String) -> Bool {
        let digits = text.utf8
        return digits.count == 3 && digits.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && digits.first != 0x30
            && text != "101"
    }
}
#endif
