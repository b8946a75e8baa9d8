import Foundation
import Imaging

/// A codec without a library: answers what it was told to, and refuses what it was not.
struct ScriptedCodec: ImageCodec {
    /// The answer to `inspect`; `nil` makes that call fail.
    var header: ImageHeader?
    /// The picture to decode to; `nil` gives a flat one of exactly the size asked for.
    var picture: Bitmap?
    /// Whether decoding is part of the script.
    var decodes = true
    /// How many bytes the file has at a quality. Any other quality fails.
    var bytes: [Double: Int] = [:]
    /// Metadata the encoder writes unasked.
    var unaskedSegments = Data()

    static let unscripted = ImagingError(.init(rawValue: "unscripted"), "Nobody was to ask this.")

    func inspect(_ data: Data) throws(ImagingError) -> ImageHeader {
        guard let header else { throw Self.unscripted }
        return header
    }

    func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap {
        guard decodes else { throw Self.unscripted }
        return picture ?? .flat(size, [10, 20, 30])
    }

    func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data {
        guard let count = bytes[quality] else { throw Self.unscripted }
        let (start, end) = (Data([0xFF, 0xD8]), Data([0xFF, 0xDA, 0, 2]))
        return start + unaskedSegments + end + Data(count: count - 8) + Data([0xFF, 0xD9])
    }
}
