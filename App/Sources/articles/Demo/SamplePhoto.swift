import Foundation
import Imaging

/// A generated photo: hills before an evening sky, 12 megapixels, with the grain of a phone's camera, stored rotated
/// with the orientation in its Exif segment.
///
/// It is the same every time. A stored row is a column of the upright picture, so it is composed of strips that are
/// painted once.
struct SamplePhoto {
    /// The size as stored. Upright it is 3000×4000.
    static let size = PixelSize(width: 4000, height: 3000)

    /// The Exif orientation of a phone that is held upright: 6.
    static let orientation = EXIFOrientation.right

    /// Paints the photo and encodes it as a JPEG.
    ///
    /// - Throws: `ImagingError` when the codec fails.
    static func jpeg(codec: any ImageCodec) throws -> Data {
        guard let bitmap = Bitmap(size: size, pixels: Scene(size: size).pixels()) else {
            throw ImagingError(.encodingFailed, "The sample photo has the wrong number of pixels.")
        }
        return try orientation.tagging(codec.encodeJPEG(bitmap, quality: 0.92))
    }
}

/// The scene: strips for the sky, two ranges of hills and the sun, each with several variants of grain.
private struct Scene {
    private static let grains = 29

    private let size: PixelSize
    private let sky: [[UInt8]]
    private let farHills: [[UInt8]]
    private let nearHills: [[UInt8]]
    private let sun: [[UInt8]]

    init(size: PixelSize) {
        self.size = size
        func strips(_ colors: [Color]) -> [[UInt8]] {
            (0..<Self.grains).map { Self.strip(colors, length: size.width, seed: UInt32($0 * 977 + colors.count)) }
        }
        sky = strips([Color(38, 66, 128), Color(96, 132, 190), Color(228, 170, 120), Color(244, 208, 150)])
        farHills = strips([Color(92, 104, 138), Color(104, 112, 136), Color(88, 98, 120), Color(70, 84, 100)])
        nearHills = strips([Color(40, 66, 40), Color(58, 88, 44), Color(84, 104, 52), Color(44, 60, 30)])
        sun = strips([Color(255, 244, 210), Color(255, 236, 180)])
    }

    /// The pixels of the stored picture, row by row.
    func pixels() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size.pixelCount * 3) { buffer, count in
            for row in 0..<size.height {
                paint(row, into: buffer.baseAddress.map { $0 + row * size.width * 3 })
            }
            count = size.pixelCount * 3
        }
    }

    /// One column of the upright picture, from the top: sky, far hills, near hills, and the sun where it stands.
    private func paint(_ row: Int, into target: UnsafeMutablePointer<UInt8>?) {
        guard let target else { return }
        // The rows run from right to left when the picture is upright.
        let x = Double(size.height - 1 - row)
        let far = Int(2_050 + 130 * sin(x / 410) + 60 * sin(x / 173 + 1) + 14 * sin(x / 29))
        let near = Int(2_700 + 220 * sin(x / 690 + 2) + 80 * sin(x / 211) + 20 * sin(x / 37 + 1))
        let grain = row &* 7_919 % Self.grains
        copy(sky[grain], 0..<far, to: target)
        let (distance, radius) = (x - 1_060, 260.0)
        if abs(distance) < radius {
            let half = Int((radius * radius - distance * distance).squareRoot())
            copy(sun[grain], (1_420 - half)..<min(1_420 + half, far), to: target)
        }
        copy(farHills[grain], far..<near, to: target)
        copy(nearHills[grain], near..<size.width, to: target)
    }

    private func copy(_ strip: [UInt8], _ range: Range<Int>, to target: UnsafeMutablePointer<UInt8>) {
        strip.withUnsafeBufferPointer { strip in
            guard let source = strip.baseAddress else { return }
            (target + range.lowerBound * 3).update(from: source + range.lowerBound * 3, count: range.count * 3)
        }
    }

    /// A gradient of colors, with grain.
    private static func strip(_ colors: [Color], length: Int, seed: UInt32) -> [UInt8] {
        var noise = seed
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length * 3)
        for index in 0..<length {
            let place = Double(index) / Double(length) * Double(colors.count - 1)
            let (from, to) = (colors[Int(place)], colors[Int(place) + 1])
            let part = place - place.rounded(.down)
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let grain = Double(noise >> 24) / 255 * 22 - 11
            for (a, b) in [(from.red, to.red), (from.green, to.green), (from.blue, to.blue)] {
                bytes.append(UInt8(min(max(a + (b - a) * part + grain, 0), 255)))
            }
        }
        return bytes
    }
}

private struct Color {
    let red: Double
    let green: Double
    let blue: Double

    init(_ red: Double, _ green: Double, _ blue: Double) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }
}
