#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// Prepares compressed bodies for NIO's decompressor, which stands after it and does not decode all of them:
///
/// - `x-gzip`, which is `gzip` (RFC 9110 §8.4.1.3).
/// - `gzip` of several members (RFC 1952 §2.2). Where a member ends is not shown by the decompressor. It is where
///   another member begins: at the bytes of its header, if the four bytes before them are the number of bytes that the
///   member has been decoded to. The decompressor gets each member as a response of its own.
/// - `deflate` without the format of zlib around it, which some servers send (RFC 9110 §8.4.1.2). The decompressor gets
///   the two bytes that are missing before it, and the checksum after it.
/// - A body of a token call that is no more than said to be encoded: neither `gzip` nor `deflate` of JSON begins with
///   its `{`. So the head waits for the first byte.
final class CompressedBodyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private enum Coding {
        case other
        /// The last four bytes of the member, and bytes that may be the start of another one.
        case gzip(trailer: UInt32, held: ByteBuffer)
        /// The first byte, until there is another one.
        case deflate(held: ByteBuffer)
        case bareDeflate
    }

    /// The header of a member: two bytes that identify it, and its only method (RFC 1952 §2.3.1).
    private static let memberHeader: [UInt8] = [0x1F, 0x8B, 8]
    /// Of zlib, for a window of 32 KiB (RFC 1950 §2.2).
    private static let zlibHeader: [UInt8] = [0x78, 0x9C]

    /// A member, and the format of zlib, of no bytes.
    private static let emptyMember: [UInt8] = memberHeader + [0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private static let emptyZlib: [UInt8] = zlibHeader + [3, 0, 0, 0, 0, 1]

    private let decoded: DecodedBodyHandler
    private var coding = Coding.other
    /// The head of the response, for its members.
    private var head: NIOHTTP1.HTTPResponseHead?
    private let isForTokens: Bool
    /// The head of the response to a token call, until its body begins.
    private var heldHead: NIOHTTP1.HTTPResponseHead?
    /// Whether the first member has begun.
    private var hasMember = false

    private init(_ decoded: DecodedBodyHandler, isForTokens: Bool) {
        self.decoded = decoded
        self.isForTokens = isForTokens
    }

    /// Adds a decompressor to a connection, and the handlers around it, after a handler. The ratio limits how many
    /// times its size a body may have when it is decoded.
    ///
    /// - Throws: What NIO throws where the handler has left the connection.
    static func attach(to channel: any Channel, after handler: ResponseLogHandler, ratio: Int) throws {
        let decoded = DecodedBodyHandler()
        // NIOHTTPCompression multiplies. No format that it decodes has a ratio above 1,032.
        let decompressor = NIOHTTPResponseDecompressor(limit: .ratio(min(max(1, ratio), 1_000_000)))
        let operations = channel.pipeline.syncOperations
        let isForTokens = (try? operations.handler(type: LenientResponseHandler.self)) != nil
        let preparing = CompressedBodyHandler(decoded, isForTokens: isForTokens)
        try operations.addHandlers([preparing, decompressor, decoded], position: .after(handler))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head) where isForTokens: heldHead = head
        case .head(let head): start(head, context)
        case .body(var bytes):
            if var head = heldHead.take() {
                if bytes.readableBytesView.first == UInt8(ascii: "{") { head.headers.remove(name: "Content-Encoding") }
                start(head, context)
            }
            pass(&bytes, context)
        case .end:
            if let head = heldHead.take() { start(head, context) }
            end(context)
            context.fireChannelRead(data)
        }
    }

    private func start(_ received: NIOHTTP1.HTTPResponseHead, _ context: ChannelHandlerContext) {
        var head = received
        (decoded.count, decoded.checksum, hasMember) = (0, nil, false)
        switch head.headers[canonicalForm: "Content-Encoding"].map({ $0.lowercased() }) {
        case ["gzip"], ["x-gzip"]:
            head.headers.replaceOrAdd(name: "Content-Encoding", value: "gzip")
            (coding, self.head) = (.gzip(trailer: 0, held: ByteBuffer()), head)
        case ["deflate"]: coding = .deflate(held: ByteBuffer())
        default: coding = .other
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func pass(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        switch coding {
        case .other, .bareDeflate: fire(bytes, context)
        case .gzip(let trailer, var held):
            if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
            passMembers(of: &held, after: trailer, context)
        case .deflate(var held):
            held.writeBuffer(&bytes)
            guard let first = held.getInteger(at: held.readerIndex, as: UInt16.self) else {
                return coding = .deflate(held: held)
            }
            // The method is deflate, and the two bytes a multiple of 31 (RFC 1950 §2.2). Or it is really gzip.
            let isZlib = (first >> 8 & 0xF == 8 && first % 31 == 0) || first == 0x1F8B
            coding = isZlib ? .other : .bareDeflate
            if !isZlib {
                decoded.checksum = Adler32()
                fire(ByteBuffer(bytes: Self.zlibHeader), context)
            }
            fire(held, context)
        }
    }

    private func passMembers(of bytes: inout ByteBuffer, after trailer: UInt32, _ context: ChannelHandlerContext) {
        var (trailer, from) = (trailer, hasMember ? 0 : 1)
        hasMember = true
        while let start = Self.memberStart(in: bytes.readableBytesView, from: from) {
            if let part = bytes.readSlice(length: start) { trailer = fire(part, context, after: trailer) }
            guard bytes.readableBytes >= Self.memberHeader.count else {
                return coding = .gzip(trailer: trailer, held: bytes)
            }
            if trailer == decoded.count { startMember(context) }
            from = 1
        }
        coding = .gzip(trailer: fire(bytes, context, after: trailer), held: ByteBuffer())
    }

    /// Where another member may start: at its header, or at a part of it with which the bytes end.
    private static func memberStart(in bytes: ByteBufferView, from: Int) -> Int? {
        var rest = bytes.dropFirst(from)
        while let index = rest.firstIndex(of: memberHeader[0]) {
            let found = bytes[index...].prefix(memberHeader.count)
            if found.elementsEqual(memberHeader.prefix(found.count)) { return index - bytes.startIndex }
            rest = bytes[(index + 1)...]
        }
        return nil
    }

    /// Ends the member for the decompressor, which then says whether it was whole, and begins another one.
    private func startMember(_ context: ChannelHandlerContext) {
        guard let head else { return }
        decoded.isBetweenMembers = true
        context.fireChannelRead(wrapInboundOut(.end(nil)))
        context.fireChannelRead(wrapInboundOut(.head(head)))
        decoded.isBetweenMembers = false
        decoded.count = 0
    }

    private func end(_ context: ChannelHandlerContext) {
        switch coding {
        case .other: break
        // A server that has nothing to compress may send nothing. The decompressor would call it cut short.
        case .gzip where !hasMember: fire(ByteBuffer(bytes: Self.emptyMember), context)
        case .deflate(let held) where held.readableBytes == 0: fire(ByteBuffer(bytes: Self.emptyZlib), context)
        case .gzip(_, let held), .deflate(let held): fire(held, context)
        case .bareDeflate: fire(ByteBuffer(integer: decoded.checksum?.value ?? 0), context)
        }
        (coding, head) = (.other, nil)
    }

    /// Passes bytes on. Returns the last four bytes so far.
    @discardableResult
    private func fire(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, after trailer: UInt32 = 0) -> UInt32 {
        guard bytes.readableBytes > 0 else { return trailer }
        let end = bytes.readableBytesView.suffix(4).reduce(trailer) { $0 >> 8 | UInt32($1) << 24 }
        context.fireChannelRead(wrapInboundOut(.body(bytes)))
        return end
    }
}

/// Stands after the decompressor: counts what it has decoded, and keeps the parts between two members to itself.
private final class DecodedBodyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The number of bytes of the member, modulo 2³² (RFC 1952 §2.3.1).
    var count: UInt32 = 0
    /// The checksum of the whole body, where it is needed.
    var checksum: Adler32?
    var isBetweenMembers = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .body(let bytes) = unwrapInboundIn(data) {
            count &+= UInt32(truncatingIfNeeded: bytes.readableBytes)
            checksum?.add(bytes.readableBytesView)
        } else if isBetweenMembers {
            return
        }
        context.fireChannelRead(data)
    }
}

/// The checksum of zlib (RFC 1950 §8.2).
private struct Adler32 {
    private static let modulus: UInt32 = 65_521
    private var (low, high): (UInt32, UInt32) = (1, 0)

    var value: UInt32 { high << 16 | low }

    mutating func add(_ bytes: ByteBufferView) {
        for byte in bytes {
            low = (low + UInt32(byte)) % Self.modulus
            high = (high + low) % Self.modulus
        }
    }
}
#endif
