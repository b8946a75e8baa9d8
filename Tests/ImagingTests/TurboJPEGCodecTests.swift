#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import Testing

@Suite struct TurboJPEGCodecTests {
    private let codec = TurboJPEGCodec()

    private func fitter(_ side: Int) -> PhotoFitter {
        PhotoFitter(codec) { $0.maximumSize = PixelSize(width: side, height: side) }
    }

    private func decoded(_ photo: FittedPhoto) throws -> Bitmap {
        try codec.decode(photo.jpeg, covering: photo.size)
    }

    @Test func `the codec of the platform is TurboJPEGCodec`() throws {
        #expect(try PlatformCodec.make() is TurboJPEGCodec)
    }

    @Test func `the fitted photo has no metadata`() throws {
        let picture = Bitmap.flat(PixelSize(width: 40, height: 20), [9, 9, 9])
        let file = try EXIFOrientation.right.tagging(codec.encodeJPEG(picture, quality: 1))
        let comment = Data([0xFF, 0xFE, 0, 8]) + Data("SECRET".utf8)
        let photo = try fitter(30).fit(file.prefix(2) + comment + file.dropFirst(2))
        #expect(photo.size == PixelSize(width: 15, height: 30))
        #expect(photo.jpeg.range(of: Data("Exif".utf8)) == nil)
        #expect(photo.jpeg.range(of: Data("SECRET".utf8)) == nil)
        #expect(try codec.inspect(photo.jpeg).orientation == .up)
    }

    @Test(arguments: [(5000, 1, 1024, 1), (1, 5000, 1, 1024), (2049, 3, 1024, 1), (1500, 1125, 1024, 768)])
    func `any shape keeps a pixel on each side`(width: Int, height: Int, fittedWidth: Int, fittedHeight: Int) throws {
        let file = try codec.encodeJPEG(.flat(PixelSize(width: width, height: height), [200, 100, 50]), quality: 0.9)
        let photo = try fitter(1024).fit(file)
        #expect(photo.size == PixelSize(width: fittedWidth, height: fittedHeight))
        #expect(try isNear(decoded(photo)[0, 0], [200, 100, 50]))
    }

    @Test(arguments: [
        (4000, 3000, 1024, 768, 2000, 1500), (4000, 3000, 4000, 3000, 4000, 3000),
        (4000, 3000, 1333, 1000, 2000, 1500), (4000, 3000, 1334, 1000, 4000, 3000),
        (4000, 3000, 1333, 1001, 4000, 3000), (8000, 6000, 1333, 1000, 2000, 1500), (8000, 6000, 100, 75, 2000, 1500),
        (9, 9, 1, 1, 3, 3),
    ])
    func `a JPEG is decoded at the smallest scale that covers one and a half times the needed size`(
        w: Int, h: Int, neededW: Int, neededH: Int, sw: Int, sh: Int
    ) {
        let scaled = TurboJPEGCodec.scaled(
            PixelSize(width: w, height: h), covering: PixelSize(width: neededW, height: neededH))
        #expect(scaled == PixelSize(width: sw, height: sh))
    }

    @Test func `the encoder clamps the quality`() throws {
        let picture = Bitmap.noise(PixelSize(width: 32, height: 32), seed: 8)
        let sizes = try [-1, 0, 0.5, 1, 7].map { try codec.encodeJPEG(picture, quality: $0).count }
        #expect(sizes[0] == sizes[1] && sizes[1] < sizes[2] && sizes[2] < sizes[3] && sizes[3] == sizes[4])
    }

    @Test func `a picture too wide for JPEG is an encodingFailed error`() {
        let wide = Bitmap.flat(PixelSize(width: 70_000, height: 1), [0, 0, 0])
        #expect(imagingError { try codec.encodeJPEG(wide, quality: 0.5) }?.code == .encodingFailed)
    }

    // MARK: Every common kind of JPEG and PNG is decoded to the RGB that a viewer shows

    @Test(
        arguments: [
            ([0], nil, [0, 0, 0], 0), ([77], nil, [77, 77, 77], 0), ([128], nil, [128, 128, 128], 0),
            ([255], nil, [255, 255, 255], 0),
            // Full cyan and half black. Adobe stores inverted values, and others do not.
            ([0, 255, 255, 128], 0, [0, 128, 128], 1), ([255, 0, 0, 127], nil, [0, 128, 128], 1),
            // Luma 0 and neutral chroma decode to 255, which is no ink in Adobe's files: only black counts.
            ([0, 128, 128, 100], 2, [100, 100, 100], 1),
        ] as [([UInt8], UInt8?, [UInt8], Int)])
    func `gray, CMYK and YCCK become RGB`(components: [UInt8], transform: UInt8?, rgb: [UInt8], tolerance: Int) throws {
        let file = FlatJPEG(components: components, adobeTransform: transform)
        let bitmap = try codec.decode(file.data, covering: PixelSize(width: 8, height: 8))
        #expect(isNear(bitmap[0, 0], rgb, within: tolerance))
    }

    @Test(
        arguments: [
            (
                .init(width: 2, height: 1, kind: .rgba, rows: [[9, 8, 7, 255, 9, 8, 7, 0]]), [9, 8, 7, 255, 255, 255], 0
            ),
            // As viewers draw it: half of 255.
            (.init(width: 1, height: 1, kind: .rgba, rows: [[0, 0, 0, 128]]), [127, 127, 127], 1),
            (
                .init(
                    width: 3, height: 1, kind: .palette, rows: [[2, 0, 1]],
                    extras: [("PLTE", [10, 20, 30, 40, 50, 60, 70, 80, 90]), ("tRNS", [255, 0])]),
                [70, 80, 90, 10, 20, 30, 255, 255, 255], 0
            ),
            (
                .init(width: 1, height: 1, kind: .rgb, bitDepth: 16, rows: [[0x80, 0x80, 0xFF, 0xFF, 0x10, 0x10]]),
                [0x80, 0xFF, 0x10], 1
            ),
            (
                .init(width: 2, height: 1, kind: .grayscale, bitDepth: 1, rows: [[0b0100_0000]]),
                [0, 0, 0, 255, 255, 255], 0
            ),
        ] as [(PlainPNG, [UInt8], Int)])
    func `a PNG of any kind becomes RGB, drawn over white`(png: PlainPNG, pixels: [UInt8], tolerance: Int) throws {
        let bitmap = try codec.decode(png)
        #expect(bitmap.pixels.count == pixels.count && isNear(bitmap.pixels, pixels, within: tolerance))
    }
}
#endif
