import Foundation
import Imaging
import Testing

@Suite struct EXIFParsingTests {
    private static let jpeg = FlatJPEG(components: [200]).data

    /// The orientation read from a JPEG whose Exif segment holds this TIFF structure.
    private func orientation(tiff: [UInt8]) throws -> EXIFOrientation {
        let payload = Array("Exif\0\0".utf8) + tiff
        let length = payload.count + 2
        let segment = Data([0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + payload)
        return try ImageHeader(parsing: Self.jpeg.prefix(2) + segment + Self.jpeg.dropFirst(2)).orientation
    }

    @Test(arguments: EXIFOrientation.allCases)
    func `a tagged orientation is parsed again`(orientation: EXIFOrientation) throws {
        let tagged = try orientation.tagging(Self.jpeg)
        #expect(try ImageHeader(parsing: tagged).orientation == orientation)
        #expect(tagged.count == Self.jpeg.count + 36)
    }

    @Test func `the first Exif segment is used`() throws {
        let twice = try EXIFOrientation.left.tagging(EXIFOrientation.down.tagging(Self.jpeg))
        #expect(try ImageHeader(parsing: twice).orientation == .left)
    }

    @Test func `only a JPEG can be tagged`() {
        #expect(imagingError { try EXIFOrientation.up.tagging(Data("GIF89a".utf8)) }?.code == .notAnImage)
    }

    private static let make: [UInt8] = [0x01, 0x0F, 0, 2, 0, 0, 0, 4, 0x41, 0x42, 0x43, 0]
    private static let left: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]

    private static let valid: [(what: String, tiff: [UInt8], orientation: EXIFOrientation)] = [
        ("big-endian", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0], .right),
        ("little-endian", [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0], .right),
        ("another entry before it", [0x4D, 0x4D, 0, 42, 0, 0, 0, 9, 0, 0, 2] + make + left, .left),
        ("a LONG", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3], .down),
    ]

    @Test(arguments: valid)
    func `an orientation is read in every form`(what: String, tiff: [UInt8], expected: EXIFOrientation) throws {
        #expect(try orientation(tiff: tiff) == expected)
    }

    /// Each is a valid structure with one fault.
    private static let malformed: [(what: String, tiff: [UInt8])] = [
        ("no bytes", []),
        ("unknown byte order", [0x4D, 0x49, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]),
        ("not 42", [0x4D, 0x4D, 0, 43, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]),
        ("directory beyond the end", [0x4D, 0x4D, 0, 42, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1]),
        ("directory at the end", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]),
        ("more entries than there are", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0xFF, 0xFF]),
        ("entry cut off", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0]),
        ("orientation 0", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0]),
        ("orientation 9", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 9, 0, 0]),
        ("text", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 2, 0, 0, 0, 1, 0, 6, 0, 0]),
        ("two values", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 2, 0, 6, 0, 6]),
    ]

    @Test(arguments: malformed)
    func `malformed Exif counts as upright`(what: String, tiff: [UInt8]) throws {
        #expect(try orientation(tiff: tiff) == .up)
    }

    @Test func `the Exif chunk of a PNG is read`() throws {
        let tiff: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        let png = PlainPNG(width: 2, height: 1, kind: .grayscale, rows: [[1, 2]], extras: [("eXIf", tiff)])
        #expect(
            try ImageHeader(parsing: png.data)
                == ImageHeader(format: .png, size: PixelSize(width: 2, height: 1), orientation: .right)
        )
    }
}

@Suite struct OrientationTests {
    /// The upright picture, three wide and two high; every pixel a letter.
    private static let upright = ["ABC", "DEF"]

    /// The stored picture for each orientation, from the definition of tag 0x0112: for 6, row 0 is the right-hand side
    /// of the scene and column 0 its top.
    private static let stored: [EXIFOrientation: [String]] = [
        .up: ["ABC", "DEF"], .upMirrored: ["CBA", "FED"], .down: ["FED", "CBA"], .downMirrored: ["DEF", "ABC"],
        .leftMirrored: ["AD", "BE", "CF"], .right: ["CF", "BE", "AD"], .rightMirrored: ["FC", "EB", "DA"],
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
        let codec = ScriptedCodec(
            header: header, picture: stored,
            encode: { bitmap, _ in bitmap == expected ? FlatJPEG(components: [0]).data : nil })
        let fitter = PhotoFitter(codec) { $0.maximumSize = PixelSize(width: 30, height: 30) }
        #expect(try fitter.fit(.init()).size == PixelSize(width: 30, height: 20))
    }
}
