import Foundation
import Imaging

/// A generated photo: an evening sky over a hill, 12 megapixels, with the grain of a phone's camera, stored rotated
/// with the orientation in its Exif segment. It is the same every time.
struct SamplePhoto {
    /// The size as stored. Upright it is 3000×4000.
    static let size = PixelSize(width: 4000, height: 3000)

    /// The Exif orientation of a phone that is held upright: 6.
    static let orientation = EXIFOrientation.right

    /// From the top of the upright picture to its bottom: red, green, blue.
    private static let colors: [[Double]] = [
        [38, 66, 128], [96, 132, 190], [228, 170, 120], [244, 208, 150], [92, 104, 138], [58, 88, 44], [44, 60, 30],
    ]

    /// Paints the photo and encodes it as a JPEG.
    static func jpeg(codec: any ImageCodec) throws -> Data {
        // Each row has the grain of one of a few, so that a debug build is fast too.
        let rows = (0..<29).map { row(seed: UInt32($0 * 977)) }
        let pixels = (0..<size.height).flatMap { rows[$0 * 7_919 % rows.count] }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else {
            throw ImagingError(.encodingFailed, "The sample photo has the wrong number of pixels.")
        }
        return try orientation.tagging(codec.encodeJPEG(bitmap, quality: 0.92))
    }

    /// A stored row, which is a column of the upright picture.
    private static func row(seed: UInt32) -> [UInt8] {
        var noise = seed
        return (0..<size.width).flatMap { index in
            let place = Double(index) / Double(size.width) * Double(colors.count - 1)
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let grain = Double(noise >> 24) / 255 * 22 - 11
            return zip(colors[Int(place)], colors[Int(place) + 1]).map { from, to in
                UInt8(min(max(from + (to - from) * place.truncatingRemainder(dividingBy: 1) + grain, 0), 255))
            }
        }
    }
}
