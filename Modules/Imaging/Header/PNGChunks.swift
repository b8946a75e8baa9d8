/// The chunks of a PNG (ISO/IEC 15948, 5.3): length, type, payload, check sum. The decoder checks the check sums.
struct PNGChunks: Sequence, IteratorProtocol {
    struct Chunk {
        let type: [UInt8]
        let payload: ByteView
    }

    static let exif = Array("eXIf".utf8)

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let header = Array("IHDR".utf8)

    private let file: ByteView
    private var offset = signature.count

    /// Returns `nil` if the bytes do not start as a PNG does.
    init?(_ file: ByteView) {
        guard file.holds(Self.signature) else { return nil }
        self.file = file
    }

    /// Width and height, if the first chunk is a valid header.
    var size: PixelSize? {
        guard let chunk = first(where: { _ in true }), chunk.type == Self.header,
            let width = chunk.payload.uint32(at: 0), let height = chunk.payload.uint32(at: 4),
            let columns = Int32(exactly: width), let rows = Int32(exactly: height)
        else { return nil }
        return PixelSize(exactly: Int(columns), Int(rows))
    }

    mutating func next() -> Chunk? {
        guard let length = file.length32(at: offset),
            let type = file.slice(at: offset + 4, count: 4),
            let payload = file.slice(at: offset + 8, count: length)
        else { return nil }
        offset += 12 + length
        return Chunk(type: Array(type.bytes), payload: payload)
    }
}
