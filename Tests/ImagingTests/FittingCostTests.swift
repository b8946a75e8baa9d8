#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import TestSupport
import Testing

/// The CPU time of fitting a photo, as a ratio to the codec alone: `make bench-imaging`. Ratios of interleaved runs
/// hold on a busy machine, where seconds do not.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["BENCH"] != nil, "a measurement: make bench-imaging"))
struct FittingCostTests {
    /// The CPU time of a call on this thread, in seconds.
    private func time(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    /// 4000×3000 pixels, smooth with texture.
    private func photo() throws -> Data {
        let size = PixelSize(width: 4000, height: 3000)
        var generator = SeededGenerator(seed: 12)
        let noise = (0..<4096).map { _ in Int.random(in: -20...20, using: &generator) }
        let pixels = (0..<size.pixelCount).flatMap { index -> [UInt8] in
            let (x, y) = (index % size.width, index / size.width)
            let texture = noise[(x / 2 &* 31 &+ y / 2 &* 1009) & 4095]
            return [x * 200 / size.width, y * 200 / size.height, (x + y) % 200].map { UInt8(max(0, $0 + texture)) }
        }
        let bitmap = try #require(Bitmap(size: size, pixels: pixels))
        return try TurboJPEGCodec().encodeJPEG(bitmap, quality: 0.92)
    }

    @Test func `12 megapixels take at most 1.15 times of the codec alone`() throws {
        let (codec, file) = (TurboJPEGCodec(), try photo())
        let fitter = PhotoFitter(codec: codec)
        let target = try fitter.fit(file).size
        let small = try codec.decode(file, covering: target).resized(to: target)
        var ratios: [Double] = []
        for _ in 0..<21 {
            let alone = try time {
                _ = try codec.decode(file, covering: target)
                _ = try codec.encodeJPEG(small, quality: 0.8)
            }
            let whole = try time { _ = try fitter.fit(file) }
            ratios.append(whole / alone)
        }
        ratios.sort()
        FileHandle.standardError.write(
            Data("fit ÷ codec, CPU time: median \(ratios[10]), from \(ratios[0]) to \(ratios[20])\n".utf8))
        #expect(ratios[10] <= 1.15)
    }
}
#endif
