import ConcurrencyPrimitives
import Foundation
import Imaging
import Testing

extension Bitmap {
    static func painted(_ size: PixelSize, _ color: (_ x: Int, _ y: Int) -> [UInt8]) -> Bitmap {
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width { pixels += color(x, y) }
        }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else {
            Issue.record("A color is three bytes")
            return .flat(size, [0, 0, 0])
        }
        return bitmap
    }

    static func flat(_ size: PixelSize, _ color: [UInt8]) -> Bitmap { painted(size) { _, _ in color } }

    /// Red and green above, blue and white below. Every turn and every reflection changes it.
    static func quadrants(_ size: PixelSize) -> Bitmap {
        painted(size) { x, y in
            switch (x < size.width / 2, y < size.height / 2) {
            case (true, true): [255, 0, 0]
            case (false, true): [0, 255, 0]
            case (true, false): [0, 0, 255]
            case (false, false): [255, 255, 255]
            }
        }
    }

    /// Random pixels, which compress worst.
    static func noise(_ size: PixelSize, seed: UInt64) -> Bitmap {
        var generator = SplitMix64(seed: seed)
        return painted(size) { _, _ in (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    }

    subscript(x: Int, y: Int) -> [UInt8] {
        let start = (y * size.width + x) * 3
        return Array(pixels[start..<start + 3])
    }
}

extension EXIFOrientation {
    /// The orientation that reverses this one. Only the quarter turns differ from their inverse.
    var inverse: EXIFOrientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }
}

/// Whether two colors look the same after JPEG.
func isNear(_ color: [UInt8], _ expected: [UInt8], within tolerance: Int = 6) -> Bool {
    zip(color, expected).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
}

/// A codec that returns scripted results, and throws for other calls.
struct ScriptedCodec: ImageCodec {
    /// The result of `inspect`; `nil` makes it fail.
    var header: ImageHeader?
    /// The decoded picture; `nil` makes a flat one of the needed size.
    var picture: Bitmap?
    var decodes = true
    /// The size of the encoded file at each quality. Other qualities fail.
    var bytes: [Double: Int] = [:]
    /// Metadata segments that the encoder adds.
    var addedSegments = Data()
    /// The encoded file, if it is not one of `bytes`.
    var encode: (@Sendable (Bitmap, Double) -> Data?)?

    static let unscripted = ImagingError(.init(rawValue: "unscripted"), "The call is not scripted.")

    func inspect(_ data: Data) throws(ImagingError) -> ImageHeader {
        guard let header else { throw Self.unscripted }
        return header
    }

    func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap {
        guard decodes else { throw Self.unscripted }
        return picture ?? .flat(size, [10, 20, 30])
    }

    func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data {
        if let file = encode?(bitmap, quality) { return file }
        guard let count = bytes[quality] else { throw Self.unscripted }
        let (start, end) = (Data([0xFF, 0xD8]), Data([0xFF, 0xDA, 0, 2]))
        return start + addedSegments + end + Data(count: count - 8) + Data([0xFF, 0xD9])
    }
}
