import Composition
import Foundation
import Imaging

enum Pictures {
    static func valid() throws -> Data {
        let size = PixelSize(width: 320, height: 240)
        let pixels = (0..<size.pixelCount * 3).map { UInt8($0 & 255) }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else { throw CocoaError(.coderInvalidValue) }
        return try AppGraph.photoFitter().codec.encodeJPEG(bitmap, quality: 0.8)
    }

    /// A PNG of a few bytes whose header claims 30000×20000 pixels.
    static let claimsTooMuch: Data = {
        func chunk(_ type: String, _ payload: [UInt8]) -> [UInt8] {
            bigEndian(payload.count) + Array(type.utf8) + payload + [0, 0, 0, 0]
        }
        let header = bigEndian(30_000) + bigEndian(20_000) + [8, 2, 0, 0, 0]
        return Data(
            [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + chunk("IHDR", header) + chunk("IDAT", [0]) + chunk("IEND", []))
    }()

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8((number >> $0) & 255) }
    }
}
