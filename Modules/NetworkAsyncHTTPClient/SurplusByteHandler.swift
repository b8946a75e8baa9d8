#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NetworkCore

/// Closes a connection on which bytes arrive that belong to no response, so that no later request gets them for its
/// own response (RFC 9112 §9.2, RFC 9110 §17.2).
///
/// The decoder does not tell where in its input a response has ended. So the last byte of what arrives goes to it
/// separately: a response that has ended before that byte is followed by surplus bytes. Its end is then held back
/// until the connection has closed, because AsyncHTTPClient sends the next request when it sees the end. A response
/// that ended is delivered in any case.
final class SurplusByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let responses: ResponseLogHandler
    private var isClosing = false

    init(_ responses: ResponseLogHandler) { self.responses = responses }

    /// Adds the handler to a connection of HTTP/1.1, before its decoder, and others before it.
    func attach(to channel: any Channel, after others: [any ChannelHandler]) throws {
        let operations = channel.pipeline.syncOperations
        let decoder = try operations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try operations.addHandlers(others + [self], position: .before(decoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        guard responses.isResponseAwaited else { return close(context) }
        responses.hasReceived = true
        var bytes = unwrapInboundIn(data)
        if responses.isHeadAwaited { bytes = bytes.withHeadInUTF8 }
        let count = bytes.readableBytes
        let mayEnd = responses.bytesToCome.map { $0 < count } ?? true
        if mayEnd, count > 1, let first = bytes.readSlice(length: count - 1) {
            responses.isReadIncomplete = true
            context.fireChannelRead(wrapInboundOut(first))
            guard responses.isResponseAwaited else { return close(context) }
            responses.isReadIncomplete = false
        }
        context.fireChannelRead(wrapInboundOut(bytes))
        responses.endRead()
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        context.close(promise: nil)
    }
}

extension ByteBuffer {
    /// The bytes with each line of the head in UTF-8, as the decoder reads it: a server may write ISO-8859-1 (RFC 9110
    /// §5.5). A head that has not arrived in one piece stays as it is.
    fileprivate var withHeadInUTF8: ByteBuffer {
        let bytes = readableBytesView
        guard !isHeadASCII, bytes.starts(with: "HTTP/".utf8),
            let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)).map({ bytes[..<$0.upperBound] })
        else { return self }
        let lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var buffer = ByteBuffer(string: lines.map { String(utf8OrLatin1: $0) }.joined(separator: "\n"))
        buffer.writeBytes(bytes[head.endIndex...])
        return buffer
    }

    /// Whether all bytes up to the end of the head are ASCII. A body may be long, and is not looked at.
    private var isHeadASCII: Bool {
        withUnsafeReadableBytes { bytes in
            var lineEnds = 0
            for byte in bytes {
                guard byte < 0x80 else { return false }
                lineEnds = byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") ? lineEnds + 1 : 0
                if lineEnds == 4 { return true }
            }
            return true
        }
    }
}
#endif
