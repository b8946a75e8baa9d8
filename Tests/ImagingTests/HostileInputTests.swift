#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import TestSupport
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
            codec.encodeJPEG(.noise(PixelSize(width: 24, height: 20), seed: 1), quality: 0.7)
        )
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
        var generator = SeededGenerator(seed: seed)
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
        var generator = SeededGenerator(seed: 99)
        for signature in [Data([0xFF, 0xD8, 0xFF]), png.prefix(8)] {
            for count in [0, 1, 10, 100, 5000] {
                let garbage = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                #expect(outcome(of: signature + garbage) == .decodingFailed)
            }
        }
    }

    @Test func `a short file that claims many pixels is refused without their memory`() throws {
        var claim = FlatJPEG(components: [200]).data
        let frame = try #require(claim.range(of: Data([0xFF, 0xC0])))
        claim.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0x27, 0x10, 0x27, 0x10])
        let error = imagingError { try PhotoFitter(codec: codec).fit(claim) }
        #expect(error?.message.contains("bytes for 10000×10000 pixels") == true)

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

    @Test func `a JPEG with more than a hundred scans is refused`() throws {
        let file = FlatJPEG(components: [200]).data
        let scan = try #require(file.range(of: Data([0xFF, 0xDA])))
        let scans = (0..<100).reduce(into: Data()) { scans, _ in scans += file[scan.lowerBound..<file.count - 2] }
        let error = imagingError { try PhotoFitter(codec: codec).fit(file.dropLast(2) + scans + file.suffix(2)) }
        #expect(error?.message.contains("more than 100 scans") == true)
    }

    @Test func `a JPEG with many scans of many pixels is refused`() throws {
        var file = FlatJPEG(components: [200]).data
        let frame = try #require(file.range(of: Data([0xFF, 0xC0])))
        file.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0x17, 0x70, 0x17, 0x70])
        let scan = try #require(file.range(of: Data([0xFF, 0xDA])))
        let coded = file[scan.lowerBound..<file.count - 2] + Data(count: 4_000)
        let scans = (0..<40).reduce(into: Data()) { scans, _ in scans += coded }
        let error = #expect(throws: ImagingError.self) {
            try PhotoFitter(codec: codec).fit(file[..<scan.lowerBound] + scans + file.suffix(2))
        }
        #expect(error?.message.contains("40 scans for 6000×6000 pixels") == true)
    }

    @Test func `a progressive JPEG that needs memory out of proportion is refused`() throws {
        var file = FlatJPEG(components: [200, 128, 128]).data
        let frame = try #require(file.range(of: Data([0xFF, 0xC0])))
        // SOF2, 8000×8000, three components without subsampling: 384 MB of coefficients.
        file[frame.lowerBound + 1] = 0xC2
        file.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0x1F, 0x40, 0x1F, 0x40])
        let error = #expect(throws: ImagingError.self) {
            try PhotoFitter(codec: codec).fit(file.dropLast(2) + Data(count: 200_000) + file.suffix(2))
        }
        #expect(error?.message.contains("for 8000×8000 pixels in 1 scans") == true)
    }

    @Test func `the first picture of an animated PNG is used`() throws {
        let control: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 0]
        let frame: [UInt8] = [0, 0, 0, 0] + [0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 14)
        let png = PlainPNG(
            width: 1, height: 1, kind: .rgb, rows: [[10, 20, 30]], extras: [("acTL", control), ("fcTL", frame)]
        )
        #expect(try codec.decode(png.data, covering: PixelSize(width: 1, height: 1))[0, 0] == [10, 20, 30])
    }
}
#endif
