import Foundation
import Imaging
import Testing

@Suite struct OrientationTests {
    /// The upright picture, three wide and two high; every pixel a letter.
    private static let upright = ["ABC", "DEF"]

    /// The stored picture for each orientation, from the definition of tag 0x0112: for 6, row 0 is the right-hand side
    /// of the scene and column 0 its top.
    private static let stored: [EXIFOrientation: [String]] = [
        .up: ["ABC", "DEF"],
        .upMirrored: ["CBA", "FED"],
        .down: ["FED", "CBA"],
        .downMirrored: ["DEF", "ABC"],
        .leftMirrored: ["AD", "BE", "CF"],
        .right: ["CF", "BE", "AD"],
        .rightMirrored: ["FC", "EB", "DA"],
        .left: ["DA", "EB", "FC"],
    ]

    private func bitmap(_ letters: [String]) throws -> Bitmap {
        let size = PixelSize(width: letters[0].count, height: letters.count)
        return try #require(Bitmap(size: size, pixels: letters.joined().utf8.flatMap { [$0, $0 + 32, 0] }))
    }

    @Test(arguments: EXIFOrientation.allCases)
    func `every orientation gives the same upright picture`(orientation: EXIFOrientation) throws {
        let stored = try bitmap(#require(Self.stored[orientation]))
        #expect(try stored.oriented(by: orientation) == bitmap(Self.upright))
        #expect(try bitmap(Self.upright).oriented(by: orientation.inverse) == stored)
        #expect(stored.size.oriented(by: orientation) == PixelSize(width: 3, height: 2))
    }

    @Test(arguments: EXIFOrientation.allCases)
    func `the fitted photo is upright`(orientation: EXIFOrientation) throws {
        let stored = Bitmap.quadrants(PixelSize(width: 60, height: 40)).oriented(by: orientation.inverse)
        let header = ImageHeader(format: .jpeg, size: stored.size, orientation: orientation)
        let expected = Bitmap.quadrants(PixelSize(width: 30, height: 20))
        let codec = PictureCheckingCodec(header: header, picture: stored, expected: expected)
        var policy = FittingPolicy()
        policy.maximumSize = PixelSize(width: 30, height: 30)
        #expect(try PhotoFitter(codec: codec, policy: policy).fit(.init()).size == PixelSize(width: 30, height: 20))
    }
}

/// Encodes the expected picture only.
private struct PictureCheckingCodec: ImageCodec {
    let header: ImageHeader
    let picture: Bitmap
    let expected: Bitmap

    func inspect(_ data: Data) throws(ImagingError) -> ImageHeader { header }

    func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap { picture }

    func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data {
        guard bitmap == expected else { throw ImagingError(.encodingFailed, "Not the picture expected.") }
        return FlatJPEG(components: [0]).data
    }
}
