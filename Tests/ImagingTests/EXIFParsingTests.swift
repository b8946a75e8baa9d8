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
        #expect(throws: ImagingError.self) { try EXIFOrientation.up.tagging(Data("GIF89a".utf8)) }
            .map { #expect($0.code == .notAnImage) }
    }

    @Test func `both byte orders are read`() throws {
        let big: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        let little: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        #expect(try orientation(tiff: big) == .right)
        #expect(try orientation(tiff: little) == .right)
    }

    @Test func `other directory entries are skipped`() throws {
        let make: [UInt8] = [0x01, 0x0F, 0, 2, 0, 0, 0, 4, 0x41, 0x42, 0x43, 0]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0]
        #expect(try orientation(tiff: [0x4D, 0x4D, 0, 42, 0, 0, 0, 9, 0, 0, 2] + make + entry) == .left)
    }

    @Test func `an orientation stored as a LONG is read`() throws {
        let long: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3]
        #expect(try orientation(tiff: long) == .down)
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

    @Test func `random Exif never crashes the parser`() throws {
        var generator = SeededGenerator(state: 42)
        let good: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
        for _ in 0..<2000 {
            var tiff = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                tiff[Int.random(in: 0..<tiff.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = try orientation(tiff: tiff)
        }
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
