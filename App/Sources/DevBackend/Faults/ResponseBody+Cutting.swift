import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension ResponseBody {
    /// The body up to a number of bytes, and then the end of the connection.
    func cut(after count: Int, closing channel: any Channel) -> ResponseBody {
        let body = self
        return ResponseBody(contentLength: contentLength) { writer in
            try await body.write(CuttingWriter(parent: writer, remaining: count, channel: channel))
            try await channel.close()
            throw CuttingWriter.IsCut()
        }
    }
}

/// Passes bytes on until its limit.
private struct CuttingWriter: ResponseBodyWriter {
    struct IsCut: Error {}

    var parent: any ResponseBodyWriter
    var remaining: Int
    let channel: any Channel

    @concurrent
    mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        if let piece = buffer.readSlice(length: min(remaining, buffer.readableBytes)), piece.readableBytes > 0 {
            remaining -= piece.readableBytes
            try await parent.write(piece)
        }
        guard remaining == 0 else { return }
        try await channel.close()
        throw IsCut()
    }

    // The body is not whole, so its end is not written.
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
