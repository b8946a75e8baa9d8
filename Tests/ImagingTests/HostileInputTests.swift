#if TurboJPEG && os(Linux)
import ConcurrencyPrimitives
import Foundation
import Imaging
import Testing

/// Hostile files: each gives a photo within the policy, or a typed error (G26).
@Suite struct HostileInputTests {
    private let codec = TurboJPEGCodec()

    private var policy: FittingPolicy {
        var policy = FittingPolicy()
        policy.maximumSize = PixelSize(width: 16, height: 16)
        // Changed bytes can claim any size. The limit keeps the run short.
        policy.maximumSourcePixels = 250_000
        return policy
    }

    private func jpeg() throws -> Data {
        try EXIFOrientation.right.tagging(
            codec.encodeJPEG(.noise(PixelSize(width: 24, height: 20), seed: 1), quality: 0.7))
    }

    private var png: Data {
        let noise = Bitmap.noise(PixelSize(width: 12, height: 10), seed: 2)
        let rows = (0..<10).map { Array(noise.pixels[$0 * 36..<($0 + 1) * 36]) }
        return PlainPNG(width: 12, height: 10, kind: .rgb, rows: rows).data
    }

    /// The code of the error; `nil` for a photo within the policy.
    private func outcome(of data: Data) -> ImagingError.Code? {
        do {
            let photo = try PhotoFitter(codec: codec, policy: policy).fit(data)
            #expect(photo.size.width <= 16 && photo.size.height <= 16)
            #expect(photo.jpeg.count <= policy.maximumBytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `every truncated JPEG is refused`() throws {
        let file = try jpeg()
        #expect(outcome(of: file) == nil)
        for count in 0..<file.count {
            #expect([.notAnImage, .decodingFailed].contains(outcome(of: file.prefix(count))), "\(count) bytes")
        }
    }

    @Test func `every PNG without all its pixels is refused`() {
        #expect(outcome(of: png) == nil)
        // A missing check sum or end chunk after the pixels is no error.
        for count in 0..<png.count - 20 {
            #expect([.notAnImage, .decodingFailed].contains(outcome(of: png.prefix(count))), "\(count) bytes")
        }
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `changed bytes never crash the decoder`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for original in try [jpeg(), png] {
            for _ in 0..<400 {
                var file = original
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    file[Int.random(in: 0..<file.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                let code = outcome(of: file)
                let expected: [ImagingError.Code?] = [
                    nil, .notAnImage, .unsupportedFormat, .tooManyPixels, .decodingFailed,
                ]
                #expect(expected.contains(code))
            }
        }
    }

    @Test func `garbage after a valid signature is refused`() {
        var generator = SplitMix64(seed: 99)
        for signature in [Data([0xFF, 0xD8, 0xFF]), png.prefix(8)] {
            for count in [0, 1, 10, 100, 5000] {
                let garbage = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                #expect(outcome(of: signature + garbage) == .decodingFailed)
            }
        }
    }

    @Test(arguments: [
        (FlatJPEG(components: [200], size: (10_000, 10_000)), "bytes for 10000×10000 pixels"),
        (FlatJPEG(components: [200], scans: 101), "more than 100 scans"),
        (FlatJPEG(components: [200], size: (6000, 6000), scans: 40, padding: 4_000), "40 scans for 6000×6000 pixels"),
        // Without subsampling, 384 MB of coefficients.
        (
            FlatJPEG(components: [200, 128, 128], size: (8000, 8000), isProgressive: true, padding: 200_000),
            "for 8000×8000 pixels in 1 scans"
        ),
    ])
    func `a JPEG that claims work out of proportion to its bytes is refused`(file: FlatJPEG, words: String) {
        let error = imagingError { try PhotoFitter(codec: codec).fit(file.data) }
        #expect(error?.message.contains(words) == true)
    }

    @Test func `a short PNG that claims many pixels is refused without their memory`() throws {
        let bomb = PlainPNG(width: 10_000, height: 10_000, kind: .rgb, rows: [[0, 0, 0]])
        for isInterlaced in [false, true] {
            var file = bomb
            file.isInterlaced = isInterlaced
            let before = try peakMemory()
            #expect(imagingError { try PhotoFitter(codec: codec).fit(file.data) }?.code == .decodingFailed)
            // All pixels would take 300 MB.
            #expect(try peakMemory() - before < 100 << 20)
        }
    }

    /// The most memory that the process has had, in bytes.
    private func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }

    @Test func `the first picture of an animated PNG is used`() throws {
        let control: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 0]
        let frame: [UInt8] = [0, 0, 0, 0] + [0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 14)
        let png = PlainPNG(
            width: 1, height: 1, kind: .rgb, rows: [[10, 20, 30]], extras: [("acTL", control), ("fcTL", frame)])
        #expect(try codec.decode(png).pixels == [10, 20, 30])
    }
}
#endif
