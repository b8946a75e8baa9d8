import Foundation
import Imaging
import Testing

/// The policy, with a scripted codec and no library.
@Suite struct PhotoFitterTests {
    private let camera = ImageHeader(format: .jpeg, size: PixelSize(width: 4000, height: 3000))

    /// Writes a byte for each pixel at quality 0.8, and half of one at others.
    private var proportional: ScriptedCodec {
        ScriptedCodec(
            header: camera,
            encode: { bitmap, quality in
                let count = bitmap.size.pixelCount / (quality < 0.8 ? 2 : 1)
                return Data([0xFF, 0xD8, 0xFF, 0xDA, 0, 2]) + Data(count: count) + Data([0xFF, 0xD9])
            })
    }

    @Test func `the defaults are the limits of the service`() {
        let policy = FittingPolicy()
        #expect(policy.maximumSize == PixelSize(width: 1024, height: 1024))
        #expect(policy.maximumBytes == 5_242_880)
        #expect(policy.qualities == [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
        #expect(policy.maximumSourcePixels == 100_000_000)
        #expect(policy.minimumLongerSide == 64)
    }

    @Test func `the highest quality that fits is used, and no lower one is tried`() throws {
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 6_000_000, 0.7: 5_242_881, 0.6: 5_242_880])
        let photo = try PhotoFitter(codec: codec).fit(Data())
        #expect(photo.quality == 0.6 && photo.jpeg.count == 5_242_880)
        #expect(photo.size == PixelSize(width: 1024, height: 768))
    }

    @Test func `a photo that fits at no quality reports its smallest size`() {
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 400, 0.4: 200, 0.1: 250])
        let fitter = PhotoFitter(codec) { ($0.qualities, $0.maximumBytes) = ([0.8, 0.4, 0.1], 100) }
        let error = imagingError { try fitter.fit(Data()) }
        #expect(error?.code == .cannotFit)
        #expect(error?.bytes == 200)
        #expect(error?.message.contains("200 bytes, and 100 are allowed") == true)
    }

    @Test func `a file over the byte limit is not inspected`() {
        let fitter = PhotoFitter(ScriptedCodec(header: nil)) { $0.maximumSourceBytes = 99 }
        let error = imagingError { try fitter.fit(Data(count: 100)) }
        #expect(error?.code == .sourceTooLarge)
        #expect(error?.bytes == 100)
    }

    @Test(arguments: [(30_000, 20_000), (Int.max, 3)])
    func `a header with too many pixels, or more than Int holds, is refused before decoding`(width: Int, height: Int) {
        let bomb = ImageHeader(format: .png, size: PixelSize(width: width, height: height))
        let error = imagingError { try PhotoFitter(codec: ScriptedCodec(header: bomb, decodes: false)).fit(Data()) }
        #expect(error?.code == .tooManyPixels && error?.sourceSize == bomb.size)
        #expect(bomb.size.pixelCount == (width == .max ? .max : 600_000_000))
    }

    @Test(arguments: [[], [0.8, 1.1], [-0.1]])
    func `a policy that no photo can meet is refused`(qualities: [Double]) {
        let fitter = PhotoFitter(ScriptedCodec(header: camera)) { $0.qualities = qualities }
        #expect(imagingError { try fitter.fit(Data()) }?.code == .invalidPolicy)
    }

    @Test func `the maximum size applies to the upright picture`() throws {
        var header = camera
        header.orientation = .right
        let codec = ScriptedCodec(header: header, bytes: [0.8: 50])
        let photo = try PhotoFitter(codec) { $0.maximumSize = PixelSize(width: 300, height: 1000) }.fit(Data())
        #expect(photo.size == PixelSize(width: 300, height: 400))
    }

    @Test func `a picture decoded at another scale is resized to the exact size`() throws {
        let picture = Bitmap.flat(PixelSize(width: 150, height: 113), [1, 2, 3])
        let codec = ScriptedCodec(header: camera, picture: picture, bytes: [0.8: 50])
        let photo = try PhotoFitter(codec) { $0.maximumSize = PixelSize(width: 100, height: 100) }.fit(Data())
        #expect(photo.size == PixelSize(width: 100, height: 75))
    }

    @Test func `metadata of the encoder is removed before the bytes are counted`() throws {
        let secret = Data([0xFF, 0xE1, 0, 14]) + Data("Exif\0\0SECRET".utf8)
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 60], addedSegments: secret)
        let photo = try PhotoFitter(codec) { $0.maximumBytes = 60 }.fit(Data())
        #expect(photo.jpeg.count == 60)
        #expect(photo.jpeg.range(of: Data("SECRET".utf8)) == nil)
    }

    @Test func `metadata between scans and bytes after the picture are removed`() throws {
        let secret = Data([0xFF, 0xFE, 0, 8]) + Data("SECRET".utf8)
        let scan = Data([0xFF, 0xDA, 0, 2, 1, 0xFF, 0, 2])
        let jpeg = Data([0xFF, 0xD8]) + scan + secret + scan + Data([0xFF, 0xD9])
        let codec = ScriptedCodec(header: camera, encode: { _, _ in jpeg + secret })
        #expect(
            try PhotoFitter(codec: codec).fit(Data()).jpeg == Data([0xFF, 0xD8]) + scan + scan + Data([0xFF, 0xD9]))
    }

    @Test func `after the last quality smaller sizes are tried, each with all qualities`() throws {
        let photo = try PhotoFitter(proportional) { ($0.qualities, $0.maximumBytes) = ([0.8, 0.1], 50_000) }.fit(Data())
        #expect(photo.quality == 0.1)
        #expect(photo.jpeg.count <= 50_000 && photo.jpeg.count > 35_000)
        #expect(photo.size.width * 3 == photo.size.height * 4)
    }

    @Test func `no photo is reduced below the minimum of the longer side`() {
        let fitter = PhotoFitter(proportional) { ($0.maximumBytes, $0.minimumLongerSide) = (500, 100) }
        let error = imagingError { try fitter.fit(Data()) }
        #expect(error?.code == .cannotFit)
        #expect(error?.message.hasPrefix("At 100×75 pixels the photo has") == true)
    }

    @Test func `an error of the codec is rethrown`() {
        let fitter = PhotoFitter(codec: ScriptedCodec(header: camera, decodes: false))
        #expect(imagingError { try fitter.fit(Data()) }?.code == ScriptedCodec.unscripted.code)
    }

    #if !TurboJPEG && os(Linux)
    @Test func `without a codec the error names the trait to enable`() {
        let error = imagingError { try PlatformCodec.make() }
        #expect(error?.code == .codecUnavailable)
        #expect(error?.errorDescription?.contains("trait TurboJPEG") == true)
    }
    #endif
}
