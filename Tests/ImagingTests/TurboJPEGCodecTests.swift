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

    @Test func `noise is written at the highest quality that fits`() throws {
        let file = try codec.encodeJPEG(.noise(PixelSize(width: 200, height: 150), seed: 3), quality: 0.9)
        let picture = try codec.decode(file, covering: PixelSize(width: 200, height: 150))
        let sizes = try FittingPolicy().qualities.map { try codec.encodeJPEG(picture, quality: $0).count }
        #expect(sizes == sizes.sorted(by: >))
        let photo = try PhotoFitter(codec) { $0.maximumBytes = sizes[3] }.fit(file)
        #expect(photo.quality == 0.5 && photo.jpeg.count == sizes[3])
    }

    @Test(arguments: [(5000, 1, 1024, 1), (1, 5000, 1, 1024), (2049, 3, 1024, 1), (1500, 1125, 1024, 768)])
    func `extreme shapes keep at least a pixel on each side`(
        width: Int, height: Int, fittedWidth: Int, fittedHeight: Int
    ) throws {
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
            PixelSize(width: w, height: h), covering: PixelSize(width: neededW, height: neededH)
        )
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
}
#endif
