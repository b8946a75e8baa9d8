import ConcurrencyPrimitives
import Foundation
import Imaging
import Testing

/// The quality of the reduction, as the peak signal-to-noise ratio against a reference: the exact area mean of the
/// whole picture, in double precision, without rounding.
@Suite struct ResamplingQualityTests {
    /// Smooth shapes with texture, as in a photo.
    private static func scene(_ size: PixelSize) -> Bitmap {
        var generator = SplitMix64(seed: 42)
        return .painted(size) { x, y in
            let texture = Double.random(in: -12...12, using: &generator)
            return [
                128 + 80 * sin(Double(x) / 37) + 30 * sin(Double(y) / 23) + texture,
                120 + 90 * cos(Double(x + y) / 51) + texture,
                110 + 90 * sin(Double(x) * Double(y) / 90_000) + texture,
            ].map { UInt8(min(max($0, 0), 255)) }
        }
    }

    /// The mean of each target pixel's area, by its definition.
    private static func reference(_ source: Bitmap, _ target: PixelSize) -> [Double] {
        func overlap(_ pixel: Int, _ index: Int, _ from: Int, _ to: Int) -> Double {
            let (low, high) = (Double(index * from) / Double(to), Double((index + 1) * from) / Double(to))
            return max(0, min(high, Double(pixel + 1)) - max(low, Double(pixel))) / (high - low)
        }
        func covered(_ index: Int, _ from: Int, _ to: Int) -> Range<Int> {
            index * from / to..<min(from, ((index + 1) * from + to - 1) / to)
        }
        var means: [Double] = []
        for y in 0..<target.height {
            for x in 0..<target.width {
                var sums = [0.0, 0.0, 0.0]
                for row in covered(y, source.size.height, target.height) {
                    for column in covered(x, source.size.width, target.width) {
                        let weight =
                            overlap(row, y, source.size.height, target.height)
                            * overlap(column, x, source.size.width, target.width)
                        let start = (row * source.size.width + column) * 3
                        for channel in 0..<3 { sums[channel] += weight * Double(source.pixels[start + channel]) }
                    }
                }
                means += sums
            }
        }
        return means
    }

    private static func decibels(_ bitmap: Bitmap, _ reference: [Double]) -> Double {
        let squares = zip(bitmap.pixels, reference).reduce(0) { $0 + pow(Double($1.0) - $1.1, 2) }
        return 10 * log10(255 * 255 / max(squares / Double(reference.count), 1e-9))
    }

    @Test(arguments: [(97, 61), (150, 112), (299, 199), (300, 200), (1, 200), (300, 1)])
    func `a reduced picture differs from the exact mean by its rounding only`(width: Int, height: Int) {
        let source = Self.scene(PixelSize(width: 300, height: 200))
        let target = PixelSize(width: width, height: height)
        // Rounding to whole values is 58.9 dB on average.
        #expect(Self.decibels(source.resized(to: target), Self.reference(source, target)) > 57)
    }

    #if TurboJPEG && os(Linux)
    @Test(arguments: [133, 120, 100, 67, 66, 50, 34, 33, 25, 199])
    func `a JPEG decoded at a reduced scale stays within 46 dB of the exact mean`(side: Int) throws {
        let codec = TurboJPEGCodec()
        let file = try codec.encodeJPEG(Self.scene(PixelSize(width: 400, height: 300)), quality: 0.95)
        let whole = try codec.decode(file, covering: PixelSize(width: 400, height: 300))
        let target = PixelSize(width: 400, height: 300).fitted(into: PixelSize(width: side, height: side))
        let reduced = try codec.decode(file, covering: target).resized(to: target)
        let decibels = Self.decibels(reduced, Self.reference(whole, target))
        #expect(decibels > 46, "\(side): \(decibels)")
    }

    @Test(arguments: [(30, 20), (17, 13), (29, 1), (3, 2)])
    func `an interlaced PNG is reduced as any other`(width: Int, height: Int) throws {
        let source = Self.scene(PixelSize(width: 30, height: 20))
        let target = PixelSize(width: width, height: height)
        var rows: [[UInt8]] = []
        for (left, top, across, down) in [
            (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
        ] {
            for y in stride(from: top, to: 20, by: down) {
                rows.append(stride(from: left, to: 30, by: across).flatMap { source[$0, y] })
            }
        }
        let png = PlainPNG(width: 30, height: 20, kind: .rgb, rows: rows, isInterlaced: true)
        let reduced = try TurboJPEGCodec().decode(png.data, covering: target)
        #expect(reduced.size == target)
        #expect(Self.decibels(reduced, Self.reference(source, target)) > 55)
    }
    #endif
}
