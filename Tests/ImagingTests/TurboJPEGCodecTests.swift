#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import Testing

@Suite struct TurboJPEGCodecTests {
    private let codec = TurboJPEGCodec()

    private func fitter(_ side: Int) -> PhotoFitter {
        return PhotoFitter(codec) { $0.maximumSize = PixelSize(width: side, height: side) }
    }

    private func decoded(_ photo: FittedPhoto) throws -> Bitmap {
        try codec.decode(photo.jpeg, covering: photo.size)
    }

    @Test func `the codec of the platform is TurboJPEGCodec`() throws {
        #expect(try PlatformCodec.make() is TurboJPEGCodec)
    }

    @Test(arguments: EXIFOrientation.allCases)
    func `all orientations give the same upright photo`(orientation: EXIFOrientation) throws {
        let stored = Bitmap.quadrants(PixelSize(width: 301, height: 201)).oriented(by: orientation.inverse)
        let file = try orientation.tagging(codec.encodeJPEG(stored, quality: 0.95))
        let photo = try fitter(90).fit(file)
        #expect(photo.size == PixelSize(width: 90, height: 60))
        let expected: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
        #expect(try zip(decoded(photo).quadrantColors, expected).allSatisfy { isNear($0, $1) })
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

        var policy = FittingPolicy()
        policy.maximumBytes = sizes[3]
        let photo = try PhotoFitter(codec: codec, policy: policy).fit(file)
        #expect(photo.quality == 0.5)
        #expect(photo.jpeg.count == sizes[3])

        policy.maximumBytes = sizes[7] - 1
        let smaller = try PhotoFitter(codec: codec, policy: policy).fit(file)
        #expect(smaller.size == PixelSize(width: 180, height: 135))
        #expect(smaller.jpeg.count <= policy.maximumBytes)

        policy.minimumLongerSide = 200
        let error = imagingError { try PhotoFitter(codec: codec, policy: policy).fit(file) }
        #expect(error?.code == .cannotFit)
        #expect(error?.bytes == sizes[7])
    }

    @Test func `a small photo is not enlarged`() throws {
        let file = try codec.encodeJPEG(.quadrants(PixelSize(width: 33, height: 17)), quality: 0.9)
        #expect(try fitter(1024).fit(file).size == PixelSize(width: 33, height: 17))
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

    @Test func `an RGB color profile is kept`() throws {
        var profile = Data(count: 200)
        profile[3] = 200
        profile.replaceSubrange(16..<20, with: Data("RGB ".utf8))
        profile.replaceSubrange(36..<40, with: Data("acsp".utf8))
        var picture = Bitmap.quadrants(PixelSize(width: 50, height: 50))
        picture.colorProfile = profile
        let file = try EXIFOrientation.left.tagging(codec.encodeJPEG(picture, quality: 0.9))
        #expect(try decoded(fitter(20).fit(file)).colorProfile == profile)

        profile.replaceSubrange(16..<20, with: Data("GRAY".utf8))
        picture.colorProfile = profile
        #expect(try decoded(fitter(20).fit(codec.encodeJPEG(picture, quality: 0.9))).colorProfile == nil)
    }
}
#endif
