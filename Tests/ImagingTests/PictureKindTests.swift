#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import Testing

/// Every common kind of JPEG and PNG is decoded to the RGB that a viewer shows.
@Suite struct PictureKindTests {
    private let codec = TurboJPEGCodec()

    private func firstPixel(of file: Data) throws -> [UInt8] {
        let header = try codec.inspect(file)
        return try codec.decode(file, covering: header.size)[0, 0]
    }

    @Test(
        arguments: [
            ([0], nil, [0, 0, 0], 0), ([77], nil, [77, 77, 77], 0), ([128], nil, [128, 128, 128], 0),
            ([255], nil, [255, 255, 255], 0),
            // Full cyan and half black. Adobe stores inverted values, and others do not.
            ([0, 255, 255, 128], 0, [0, 128, 128], 1), ([255, 0, 0, 127], nil, [0, 128, 128], 1),
            // Luma 0 and neutral chroma decode to 255, which is no ink in Adobe's files: only black counts.
            ([0, 128, 128, 100], 2, [100, 100, 100], 1),
        ] as [([UInt8], UInt8?, [UInt8], Int)])
    func `gray, CMYK and YCCK become RGB`(
        components: [UInt8], adobeTransform: UInt8?, expected: [UInt8], tolerance: Int
    ) throws {
        let file = FlatJPEG(components: components, adobeTransform: adobeTransform)
        #expect(try isNear(firstPixel(of: file.data), expected, within: tolerance))
    }

    @Test func `a fitted CMYK photo is an RGB JPEG`() throws {
        let file = FlatJPEG(components: [0, 255, 255, 255], adobeTransform: 0).data
        let photo = try PhotoFitter(codec: codec).fit(file)
        #expect(try isNear(firstPixel(of: photo.jpeg), [0, 255, 255]))
    }

    @Test func `transparent pixels are drawn over white`() throws {
        let png = PlainPNG(width: 3, height: 1, kind: .rgba, rows: [[9, 8, 7, 255, 9, 8, 7, 0, 0, 0, 0, 128]])
        let bitmap = try codec.decode(png.data, covering: PixelSize(width: 3, height: 1))
        #expect(bitmap[0, 0] == [9, 8, 7])
        #expect(bitmap[1, 0] == [255, 255, 255])
        // As viewers draw it: half of 255.
        #expect(isNear(bitmap[2, 0], [127, 127, 127], within: 1))
    }

    @Test func `palette colors have their transparency`() throws {
        let png = PlainPNG(
            width: 3, height: 1, kind: .palette, rows: [[2, 0, 1]],
            extras: [("PLTE", [10, 20, 30, 40, 50, 60, 70, 80, 90]), ("tRNS", [255, 0])]
        )
        let bitmap = try codec.decode(png.data, covering: PixelSize(width: 3, height: 1))
        #expect(bitmap.pixels == [70, 80, 90, 10, 20, 30, 255, 255, 255])
    }

    @Test func `samples of 16 bits keep their upper 8`() throws {
        let png = PlainPNG(width: 1, height: 1, kind: .rgb, bitDepth: 16, rows: [[0x80, 0x80, 0xFF, 0xFF, 0x10, 0x10]])
        #expect(try isNear(firstPixel(of: png.data), [0x80, 0xFF, 0x10], within: 1))
    }

    @Test func `samples of one bit are black and white`() throws {
        let png = PlainPNG(width: 8, height: 1, kind: .grayscale, bitDepth: 1, rows: [[0b0100_0000]])
        let bitmap = try codec.decode(png.data, covering: PixelSize(width: 8, height: 1))
        #expect(bitmap[0, 0] == [0, 0, 0])
        #expect(bitmap[1, 0] == [255, 255, 255])
    }

    @Test func `a PNG is fitted and turned as a JPEG is`() throws {
        let tiff: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        let stored = Bitmap.quadrants(PixelSize(width: 80, height: 120)).oriented(by: EXIFOrientation.right.inverse)
        let rows = (0..<stored.size.height).map { y in (0..<stored.size.width).flatMap { x in stored[x, y] } }
        let png = PlainPNG(
            width: stored.size.width, height: stored.size.height, kind: .rgb, rows: rows, extras: [("eXIf", tiff)]
        )
        let photo = try PhotoFitter(codec) { $0.maximumSize = PixelSize(width: 60, height: 60) }.fit(png.data)
        #expect(photo.size == PixelSize(width: 40, height: 60))
        let colors = try codec.decode(photo.jpeg, covering: photo.size).quadrantColors
        let expected: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
        #expect(zip(colors, expected).allSatisfy { isNear($0, $1, within: 12) })
    }
}
#endif
