#if AsyncHTTPClient
import NIOCore
import NetworkCore

/// Repairs the response to a token call before the decoder: a fault beside the tokens is no reason to lose them.
///
/// Lines of a head that are no field are left out, folded ones joined, control bytes dropped (RFC 9112 §5).
/// `Transfer-Encoding` wins over `Content-Length`, and its `identity` is ignored (§6.3). Of chunks, blanks around
/// sizes, extensions and trailers are left out. Two lengths, a NUL in the status and a bad size are errors.
struct LenientResponse {
    /// What is read next. Of a chunk, so many bytes, and the end of their line.
    private enum Part { case head, chunkSize, chunk(Int), trailers, rest }

    /// The most bytes of a head, as the decoder has it for any response.
    static let longestHead = 2 * 1_024 * 1_024

    private var part = Part.head
    private var unread = ByteBuffer()
    /// The lines of the head so far, folded ones joined, and their length.
    private var (lines, length): ([String], Int) = ([], 0)

    /// Replaces what has arrived by what the decoder gets, also before an error.
    ///
    /// - Throws: `HTTPTransportError` with code `invalidResponse`.
    mutating func repair(_ bytes: inout ByteBuffer) throws {
        unread.writeBuffer(&bytes)
        bytes.clear()
        defer { unread.discardReadBytes() }
        while unread.readableBytes > 0 {
            switch part {
            case .rest: bytes.writeBuffer(&unread)
            case .chunk(let count) where count > 0:
                var piece = unread.readSlice(length: min(count, unread.readableBytes)) ?? ByteBuffer()
                part = .chunk(count - piece.readableBytes)
                bytes.writeBuffer(&piece)
            default:
                guard let line = try readLine() else { return }
                bytes.writeString(try repair(line))
            }
        }
    }

    /// `nil`: it has not arrived in full.
    private mutating func readLine() throws -> String? {
        let end = unread.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map { $0 - unread.readerIndex }
        guard length + (end ?? unread.readableBytes) <= Self.longestHead else { throw Self.error("its head is long") }
        guard let end, let line = unread.readBytes(length: end) else { return nil }
        unread.moveReaderIndex(forwardBy: 1)
        return String(utf8OrLatin1: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...])
    }

    private mutating func repair(_ line: String) throws -> String {
        switch part {
        case .head where line.isEmpty: return lines.isEmpty ? "" : try repairHead()
        case .head:
            guard !lines.isEmpty || (line.hasPrefix("HTTP/") && !line.utf8.contains(0)) else {
                throw Self.error("its first line is no status, or has a NUL")
            }
            let isFolded = line.hasPrefix(" ") || line.hasPrefix("\t")
            if isFolded { lines[lines.count - 1] += line } else { lines.append(line) }
            length += line.utf8.count
            return ""
        case .chunkSize:
            let size = String(line.prefix { $0 != ";" }).withoutSurroundingWhiteSpace
            guard size.first?.isHexDigit == true, let count = Int(size, radix: 16) else {
                throw Self.error("the size of a chunk is no number")
            }
            part = count == 0 ? .trailers : .chunk(count)
            return size + "\r\n"
        case .chunk: part = .chunkSize
        case .trailers where !line.isEmpty: return ""
        case .trailers, .rest: part = .rest
        }
        return line + "\r\n"
    }

    private mutating func repairHead() throws -> String {
        func withoutControls(_ text: Substring) -> String {
            String(text.unicodeScalars.filter { $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7F) })
        }
        let status = withoutControls(lines[0][...])
        var fields = NetworkCore.HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = withoutControls(line[line.index(after: colon)...])
            fields.appendIfValid(String(line[..<colon]).withoutSurroundingWhiteSpace, value)
        }
        func takeList(_ name: String) -> [String] {
            defer { fields.remove(name) }
            return fields.values(of: name).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
                .map { String($0).withoutSurroundingWhiteSpace.lowercased() }
        }
        let codings = takeList("Transfer-Encoding").filter { !["", "identity"].contains($0) }
        let lengths = Set(takeList("Content-Length"))
        guard lengths.count < 2 || !codings.isEmpty else { throw Self.error("it has two lengths") }
        fields["Transfer-Encoding"] = codings.isEmpty ? nil : codings.joined(separator: ", ")
        fields["Content-Length"] = codings.isEmpty ? lengths.first : nil
        // After a status of 1xx, another head follows, but for 101.
        let number = status.split(separator: " ").dropFirst().first ?? ""
        let isLast = number.first != "1" || number == "101"
        if isLast { part = codings.last == "chunked" ? .chunkSize : .rest }
        (lines, length) = ([], 0)
        return ([status] + fields.map { "\($0.name): \($0.value)" } + ["", ""]).joined(separator: "\r\n")
    }

    private static func error(_ reason: String) -> HTTPTransportError {
        HTTPTransportError(.invalidResponse, reason: "the response is not valid HTTP: \(reason)")
    }
}

/// Stands before the decoder of a connection of HTTP/1.1 that is used for one token call.
final class LenientResponseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var response = LenientResponse()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let result = Result { try response.repair(&bytes) }
        if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
        guard case .failure(let error) = result else { return }
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
#endif
