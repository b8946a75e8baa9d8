import Foundation
import Imaging

/// A PNG of any kind, without compression.
struct PlainPNG {
    enum Kind: UInt8 {
        case grayscale = 0
        case rgb = 2
        case palette = 3
        case rgba = 6
    }

    var width: Int
    var height: Int
    var kind: Kind
    var bitDepth: UInt8 = 8
    /// The samples of each row, as stored in the file.
    var rows: [[UInt8]]
    /// Chunks between the header and the pixels.
    var extras: [(type: String, payload: [UInt8])] = []
    /// The order of the rows and pixels is the caller's: see ISO/IEC 15948, 8.2.
    var isInterlaced = false

    var data: Data {
        var file = Data([0x89]) + Data("PNG\r\n".utf8) + Data([0x1A, 0x0A])
        file += chunk(
            "IHDR", bigEndian(width) + bigEndian(height) + [bitDepth, kind.rawValue, 0, 0, isInterlaced ? 1 : 0])
        for extra in extras { file += chunk(extra.type, extra.payload) }
        return file + chunk("IDAT", compressed(rows.flatMap { [0] + $0 })) + chunk("IEND", [])
    }

    private func bigEndian(_ value: some BinaryInteger) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private func chunk(_ type: String, _ payload: [UInt8]) -> Data {
        let body = Array(type.utf8) + payload
        return Data(bigEndian(payload.count) + body + bigEndian(checkSum(body)))
    }

    /// One stored block in a zlib stream (RFC 1950, RFC 1951 section 3.2.4).
    func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        let lengths = [count & 0xFF, count >> 8, ~count & 0xFF, ~count >> 8].map { UInt8($0) }
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return [0x78, 0x01, 0x01] + lengths + bytes + bigEndian(high << 16 | low)
    }

    /// CRC-32, bit by bit.
    private func checkSum(_ bytes: [UInt8]) -> UInt32 {
        var register: UInt32 = .max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1 }
        }
        return ~register
    }
}

#if TurboJPEG && os(Linux)
extension TurboJPEGCodec {
    func decode(_ file: PlainPNG) throws -> Bitmap {
        try decode(file.data, covering: PixelSize(width: file.width, height: file.height))
    }
}
#endif
