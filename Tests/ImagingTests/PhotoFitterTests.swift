import Foundation
import Imaging
import Testing

/// The policy alone, over a scripted codec: no library takes part.
@Suite struct PhotoFitterTests {
    private let camera = ImageHeader(format: .jpeg, size: PixelSize(width: 4000, height: 3000))

    @Test func theDefaultsAreTheServicesLimits() {
        let policy = FittingPolicy()
        #expect(policy.maximumSize == PixelSize(width: 1024, height: 1024))
        #expect(policy.maximumBytes == 5_242_880)
        #expect(policy.qualities == [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
        #expect(policy.maximumSourcePixels == 100_000_000)
    }

    @Test func theHighestQualityThatFitsIsTakenAndNoneBelowItIsTried() throws {
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 6_000_000, 0.7: 5_242_881, 0.6: 5_242_880])
        let photo = try PhotoFitter(codec: codec).fit(Data())
        #expect(photo.quality == 0.6)
        #expect(photo.jpeg.count == 5_242_880)
        #expect(photo.size == PixelSize(width: 1024, height: 768))
    }

    @Test func aPhotoThatFitsAtNoQualityNamesTheSmallestSizeReached() {
        var policy = FittingPolicy()
        policy.qualities = [0.8, 0.4, 0.1]
        policy.maximumBytes = 100
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 400, 0.4: 200, 0.1: 250])
        let error = #expect(throws: ImagingError.self) { try PhotoFitter(codec: codec, policy: policy).fit(Data()) }
        #expect(error?.code == .cannotFit)
        #expect(error?.bytes == 200)
        #expect(error?.message.contains("200 bytes of 100 allowed") == true)
    }

    @Test func aFileOverTheByteLimitIsNotEvenInspected() {
        var policy = FittingPolicy()
        policy.maximumSourceBytes = 99
        let fitter = PhotoFitter(codec: ScriptedCodec(header: nil), policy: policy)
        let error = #expect(throws: ImagingError.self) { try fitter.fit(Data(count: 100)) }
        #expect(error?.code == .sourceTooLarge)
        #expect(error?.bytes == 100)
    }

    @Test func aHeaderThatClaimsTooManyPixelsIsRefusedBeforeDecoding() {
        let bomb = ImageHeader(format: .png, size: PixelSize(width: 30_000, height: 20_000))
        let fitter = PhotoFitter(codec: ScriptedCodec(header: bomb, decodes: false))
        let error = #expect(throws: ImagingError.self) { try fitter.fit(Data()) }
        #expect(error?.code == .tooManyPixels)
        #expect(error?.sourceSize == bomb.size)
    }

    @Test func aSizeWhoseProductOverflowsIsTooManyPixelsToo() {
        let absurd = ImageHeader(format: .png, size: PixelSize(width: .max, height: 3))
        let fitter = PhotoFitter(codec: ScriptedCodec(header: absurd, decodes: false))
        #expect(throws: ImagingError.self) { try fitter.fit(Data()) }
        #expect(absurd.size.pixelCount == .max)
    }

    @Test(arguments: [[], [0.8, 1.1], [-0.1]])
    func aPolicyThatNobodyCanFollowIsRefused(qualities: [Double]) {
        var policy = FittingPolicy()
        policy.qualities = qualities
        let fitter = PhotoFitter(codec: ScriptedCodec(header: camera), policy: policy)
        #expect(throws: ImagingError.self) { try fitter.fit(Data()) }
            .map { #expect($0.code == .invalidPolicy) }
    }

    @Test func aQuarterTurnIsFittedByTheUprightPicture() throws {
        var header = camera
        header.orientation = .right
        var policy = FittingPolicy()
        policy.maximumSize = PixelSize(width: 300, height: 1000)
        let codec = ScriptedCodec(header: header, bytes: [0.8: 50])
        let photo = try PhotoFitter(codec: codec, policy: policy).fit(Data())
        #expect(photo.size == PixelSize(width: 300, height: 400))
    }

    @Test func aCodecThatDecodesAtItsOwnScaleIsBroughtToTheExactSize() throws {
        let picture = Bitmap.flat(PixelSize(width: 150, height: 113), [1, 2, 3])
        var policy = FittingPolicy()
        policy.maximumSize = PixelSize(width: 100, height: 100)
        let codec = ScriptedCodec(header: camera, picture: picture, bytes: [0.8: 50])
        #expect(try PhotoFitter(codec: codec, policy: policy).fit(Data()).size == PixelSize(width: 100, height: 75))
    }

    @Test func metadataThatTheEncoderWritesUnaskedIsTakenOutBeforeBytesAreCounted() throws {
        let secret = Data([0xFF, 0xE1, 0, 14]) + Data("Exif\0\0SECRET".utf8)
        var policy = FittingPolicy()
        policy.maximumBytes = 60
        let codec = ScriptedCodec(header: camera, bytes: [0.8: 60], unaskedSegments: secret)
        let photo = try PhotoFitter(codec: codec, policy: policy).fit(Data())
        #expect(photo.jpeg.count == 60)
        #expect(photo.jpeg.range(of: Data("SECRET".utf8)) == nil)
    }

    @Test func theCodecsOwnErrorArrivesAsItIs() {
        let fitter = PhotoFitter(codec: ScriptedCodec(header: camera, decodes: false))
        #expect(throws: ImagingError.self) { try fitter.fit(Data()) }
            .map { #expect($0.code == ScriptedCodec.unscripted.code) }
    }

    #if !TurboJPEG && os(Linux)
    @Test func withoutACodecTheErrorSaysWhichTraitToEnable() {
        let error = #expect(throws: ImagingError.self) { try PlatformCodec.make() }
        #expect(error?.code == .codecUnavailable)
        #expect(error?.errorDescription?.contains("trait TurboJPEG") == true)
    }
    #endif
}
