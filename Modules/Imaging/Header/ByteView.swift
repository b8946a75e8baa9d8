import Foundation

/// Reads untrusted bytes with bounds checks: an offset outside the view returns `nil`.
///
/// Offsets count from the start of the view.
struct ByteView {
    enum ByteOrder {
        case bigEndian
        case littleEndian
    }

    private let data: Data

    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    /// The bytes, not copied.
    var bytes: Data { data }

    subscript(offset: Int) -> UInt8? {
        guard offset >= 0, offset < data.count else { return nil }
        return data[data.startIndex + offset]
    }

    func uint16(at offset: Int, _ order: ByteOrder = .bigEndian) -> UInt16? {
        guard let first = self[offset], let second = self[offset + 1] else { return nil }
        let (high, low) = order == .bigEndian ? (first, second) : (second, first)
        return UInt16(high) << 8 | UInt16(low)
    }

    func uint32(at offset: Int, _ order: ByteOrder = .bigEndian) -> UInt32? {
        guard let first = uint16(at: offset, order), let second = uint16(at: offset + 2, order) else { return nil }
        let (high, low) = order == .bigEndian ? (first, second) : (second, first)
        return UInt32(high) << 16 | UInt32(low)
    }

    /// A length or an offset in the file; `nil` also if it does not fit in this platform's `Int`.
    func length32(at offset: Int, _ order: ByteOrder = .bigEndian) -> Int? {
        uint32(at: offset, order).flatMap { Int(exactly: $0) }
    }

    /// A part of the view; `nil` if it exceeds the view.
    func slice(at offset: Int, count length: Int) -> ByteView? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        let start = data.startIndex + offset
        return ByteView(data[start..<start + length])
    }

    func holds(_ expected: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        guard let part = slice(at: offset, count: expected.count) else { return false }
        return part.data.elementsEqual(expected)
    }
}
