#if AsyncHTTPClient
import NIOCore

/// The frames of HTTP/2 that a server sends, valid or not: the first bytes of a connection, and what follows the head
/// of a request on its stream.
struct FrameScript: Sendable {
    var opening: [Frame] = [.settings([])]
    var response: [Frame]
    /// What follows the heads of later requests on the connection. `nil`: the same.
    var later: [Frame]?
    var closes = false

    /// A frame (RFC 9113 §4.1). A stream of -1 stands for that of the request.
    struct Frame: Sendable {
        var type: UInt8
        var flags: UInt8 = 0
        var stream: Int32 = -1
        var payload: [UInt8] = []

        static let (endStream, endHeaders): (UInt8, UInt8) = (1, 4)

        /// Fields as literals without indexing (RFC 7541 §6.2.2).
        static func head(_ fields: [(String, String)], ends: Bool = false) -> Self {
            let block = fields.flatMap {
                [0, UInt8($0.0.utf8.count)] + $0.0.utf8 + [UInt8($0.1.utf8.count)] + $0.1.utf8
            }
            return Self(type: 1, flags: endHeaders | (ends ? endStream : 0), payload: block)
        }

        static func status(_ status: String, ends: Bool = false) -> Self { .head([(":status", status)], ends: ends) }

        static func data(_ text: String, ends: Bool = false) -> Self {
            Self(type: 0, flags: ends ? endStream : 0, payload: Array(text.utf8))
        }

        static func reset(_ code: UInt32) -> Self { Self(type: 3, payload: code.bytes) }

        static func settings(_ values: [(UInt16, UInt32)]) -> Self {
            Self(type: 4, stream: 0, payload: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + $0.1.bytes })
        }

        /// Is no frame: the connection closes.
        static let closeConnection = Self(type: 255)

        static func goAway(last: Int32 = 0, _ code: UInt32 = 0) -> Self {
            Self(type: 7, stream: 0, payload: UInt32(bitPattern: last).bytes + code.bytes)
        }

        func bytes(on request: Int32) -> [UInt8] {
            var bytes = Array(UInt32(payload.count).bytes.dropFirst())
            bytes += [type, flags]
            bytes += UInt32(bitPattern: stream < 0 ? request : stream).bytes
            return bytes + payload
        }
    }
}

/// Sends the opening of a script when the client's preface is there, and the response to each head.
final class FrameSpeaker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let prefaceLength = 24
    private let script: FrameScript
    private let onHead: () -> Void
    private var received = ByteBuffer()
    private var isOpen = false
    private var hasResponded = false

    init(_ script: FrameScript, onHead: @escaping () -> Void) {
        self.script = script
        self.onHead = onHead
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        if !isOpen, received.readSlice(length: Self.prefaceLength) != nil {
            isOpen = true
            send(script.opening, on: 0, context)
        }
        while isOpen, let head = received.getBytes(at: received.readerIndex, length: 9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard received.readSlice(length: 9 + length) != nil else { return }
            let stream = head[5...].reduce(Int32(0)) { $0 << 8 | Int32($1) }
            guard head[3] == 1 else { continue }
            onHead()
            send(hasResponded ? script.later ?? script.response : script.response, on: stream, context)
            hasResponded = true
            if script.closes { context.close(promise: nil) }
        }
    }

    private func send(_ frames: [FrameScript.Frame], on stream: Int32, _ context: ChannelHandlerContext) {
        guard frames.first?.type != FrameScript.Frame.closeConnection.type else { return context.close(promise: nil) }
        guard !frames.isEmpty else { return }
        let bytes = frames.flatMap { $0.bytes(on: stream) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension UInt32 {
    /// The bytes, the highest first.
    fileprivate var bytes: [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
#endif
