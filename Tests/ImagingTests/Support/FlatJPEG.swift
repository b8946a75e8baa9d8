import Foundation

/// A JPEG of one 8×8 block with a flat value for each component, for kinds that the encoders do not write, such as CMYK
/// without Adobe's segment.
struct FlatJPEG {
    /// One component is grayscale, three are YCbCr, four are inks.
    var components: [UInt8]
    /// The colour transform in Adobe's segment: 0 for none, 2 for YCCK.
    var adobeTransform: UInt8?
    /// What the frame header claims.
    var size = (width: 8, height: 8)
    var isProgressive = false
    /// The number of equal scans, each with zero bytes behind it.
    var scans = 1
    var padding = 0

    var data: Data {
        let padded = (0..<scans).map { _ in scan + Data(count: padding) }.reduce(Data(), +)
        return Data([0xFF, 0xD8]) + adobeMark + quantization + frame + huffmanTables + padded + Data([0xFF, 0xD9])
    }

    private var identifiers: [UInt8] { components.indices.map { UInt8($0 + 1) } }

    private func segment(_ marker: UInt8, _ payload: [UInt8]) -> Data {
        let length = payload.count + 2
        return Data([0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + payload)
    }

    private var adobeMark: Data {
        adobeTransform.map { segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, $0]) } ?? Data()
    }

    /// All eights, so that the first coefficient is the sample's distance from 128.
    private var quantization: Data { segment(0xDB, [0] + [UInt8](repeating: 8, count: 64)) }

    private var frame: Data {
        let parts: [UInt8] = identifiers.flatMap { [$0, 0x11, 0] }
        let claim = [size.height, size.width].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return segment(isProgressive ? 0xC2 : 0xC0, [8] + claim + [UInt8(components.count)] + parts)
    }

    /// First coefficients: the categories 0 to 8 as codes of four bits. Others: only "end of block", as one bit 0.
    private var huffmanTables: Data {
        let first = segment(0xC4, [0x00, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 12) + (0...8))
        let others = segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
        return first + others
    }

    private var scan: Data {
        let tables: [UInt8] = identifiers.flatMap { [$0, 0] }
        let header = [UInt8(components.count)] + tables + [0, 63, 0]
        var bits = ""
        for component in components {
            let value = Int(component) - 128
            let category = value == 0 ? 0 : Int.bitWidth - value.magnitude.leadingZeroBitCount
            let coded = value < 0 ? value + (1 << category) - 1 : value
            bits += padded(category, to: 4) + padded(coded, to: category) + "0"
        }
        bits += String(repeating: "1", count: (8 - bits.count % 8) % 8)
        var coded: [UInt8] = []
        for start in stride(from: 0, to: bits.count, by: 8) {
            let byte = UInt8(bits.dropFirst(start).prefix(8), radix: 2) ?? 0
            coded += byte == 0xFF ? [0xFF, 0] : [byte]
        }
        return segment(0xDA, header) + coded
    }

    private func padded(_ value: Int, to count: Int) -> String {
        guard count > 0 else { return "" }
        let digits = String(value, radix: 2)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}
