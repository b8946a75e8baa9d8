/// The dimensions of a JPEG image, read from its frame header without decoding it (ITU-T T.81, annex B).
///
/// Not that of `Imaging`: the server checks uploads with code of its own, so that it does not repeat an error of the
/// client.
struct JPEGHeader: Sendable, Hashable {
    let width: Int
    let height: Int

    /// Reads the first frame header.
    ///
    /// - Returns: nil when the bytes are not a JPEG, end too early, or have a dimension of zero.
    init?(_ bytes: some RandomAccessCollection<UInt8>) {
        var reader = SegmentReader(bytes)
        guard reader.readByte() == 0xFF, reader.readByte() == Marker.startOfImage else { return nil }
        while let marker = reader.readMarker() {
            switch marker {
            case Marker.standalone:
                continue
            case Marker.startOfScan, Marker.endOfImage:
                return nil
            case Marker.frames where !Marker.notFrames.contains(marker):
                guard
                    let length = reader.readWord(), length >= 8, reader.readByte() != nil,
                    let height = reader.readWord(), let width = reader.readWord(), height > 0, width > 0
                else { return nil }
                self.width = width
                self.height = height
                return
            default:
                guard let length = reader.readWord(), length >= 2, reader.skip(length - 2) else { return nil }
            }
        }
        return nil
    }

    private enum Marker {
        static let startOfImage: UInt8 = 0xD8
        static let endOfImage: UInt8 = 0xD9
        static let startOfScan: UInt8 = 0xDA
        /// Restart markers: they have no length field.
        static let standalone: ClosedRange<UInt8> = 0xD0...0xD7
        static let frames: ClosedRange<UInt8> = 0xC0...0xCF
        /// Huffman tables, an extension and arithmetic conditioning share the frames' range.
        static let notFrames: Set<UInt8> = [0xC4, 0xC8, 0xCC]
    }
}

/// A position in a sequence of marker segments. A read at the end returns nil.
private struct SegmentReader<Bytes: RandomAccessCollection<UInt8>> {
    private let bytes: Bytes
    private var position: Bytes.Index

    init(_ bytes: Bytes) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func readByte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { bytes.formIndex(after: &position) }
        return bytes[position]
    }

    mutating func readWord() -> Int? {
        guard let high = readByte(), let low = readByte() else { return nil }
        return Int(high) << 8 | Int(low)
    }

    /// The next marker's code. Any number of fill bytes (0xFF) may come before it.
    mutating func readMarker() -> UInt8? {
        guard readByte() == 0xFF else { return nil }
        var code = readByte()
        while code == 0xFF { code = readByte() }
        return code == 0 ? nil : code
    }

    mutating func skip(_ count: Int) -> Bool {
        guard let end = bytes.index(position, offsetBy: count, limitedBy: bytes.endIndex) else { return false }
        position = end
        return true
    }
}
