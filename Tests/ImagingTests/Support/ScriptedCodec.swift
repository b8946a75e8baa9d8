import Foundation
import Imaging

/// A codec that returns scripted results, and throws for other calls.
struct ScriptedCodec: ImageCodec {
    /// The result of `inspect`; `nil` makes it fail.
    var header: ImageHeader?
    /// The decoded picture; `nil` makes a flat one of the needed size.
    var picture: Bitmap?
    /// Whether `decode` succeeds.
    var decodes = true
    /// The size of the encoded file at each quality. Other qualities fail.
    var bytes: [Double: Int] = [:]
    /// Metadata segments that the encoder adds.
    var addedSegments = Data()

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
        guard let count = bytes[quality] else { throw Self.unscripted }
        let (start, end) = (Data([0xFF, 0xD8]), Data([0xFF, 0xDA, 0, 2]))
        return start + addedSegments + end + Data(count: count - 8) + Data([0xFF, 0xD9])
    }
}
