import ConcurrencyPrimitives
import Imaging
import Testing

@Suite struct PixelSizeTests {
    @Test(arguments: [
        (4000, 3000, 1024, 768), (3000, 4000, 768, 1024), (2048, 2048, 1024, 1024), (1025, 1024, 1024, 1023),
        (4032, 3021, 1024, 767), (3333, 1111, 1024, 341), (1, 5000, 1, 1024), (5000, 1, 1024, 1),
        (100_000_000, 1, 1024, 1), (1024, 1024, 1024, 1024), (1000, 10, 1000, 10), (1, 1, 1, 1),
    ])
    func `the aspect ratio is kept, nothing is enlarged`(width: Int, height: Int, fittedWidth: Int, fittedHeight: Int) {
        let fitted = PixelSize(width: width, height: height).fitted(into: FittingPolicy().maximumSize)
        #expect(fitted == PixelSize(width: fittedWidth, height: fittedHeight))
    }

    @Test func `every size fits its box to the nearest pixel`() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            func side() -> Int { Int.random(in: 1...6000, using: &generator) }
            let (size, box) = (PixelSize(width: side(), height: side()), PixelSize(width: side(), height: side()))
            let fitted = size.fitted(into: box)
            #expect(fitted.width <= min(box.width, size.width) && fitted.height <= min(box.height, size.height))
            #expect(fitted == size || fitted.width == box.width || fitted.height == box.height)
            let scale = min(1, Double(box.width) / Double(size.width), Double(box.height) / Double(size.height))
            #expect(abs(Double(fitted.width) - max(1, Double(size.width) * scale)) <= 0.5)
            #expect(abs(Double(fitted.height) - max(1, Double(size.height) * scale)) <= 0.5)
        }
    }

    @Test func `a size has at least one pixel on each side`() {
        #expect(PixelSize(exactly: 0, 5) == nil)
        #expect(PixelSize(exactly: 5, -1) == nil)
        #expect(PixelSize(exactly: 5, 1)?.description == "5×1")
    }

    @Test func `a bitmap has three bytes for every pixel`() {
        #expect(Bitmap(size: PixelSize(width: 2, height: 1), pixels: [1, 2, 3, 4, 5, 6]) != nil)
        #expect(Bitmap(size: PixelSize(width: 2, height: 1), pixels: [1, 2, 3, 4, 5]) == nil)
        #expect(Bitmap(size: PixelSize(width: .max, height: 2), pixels: []) == nil)
    }
}

@Suite struct ResizingTests {
    @Test(
        arguments: [
            ((101, 99), (1, 1), [0, 128, 255]), ((101, 99), (7, 5), [0, 128, 255]),
            ((101, 99), (64, 63), [0, 128, 255]), ((101, 99), (100, 1), [0, 128, 255]),
            ((101, 99), (1, 100), [0, 128, 255]), ((101, 99), (101, 99), [0, 128, 255]),
            // A long sum accumulates no error and does not overflow.
            ((200_000, 1), (1, 1), [255, 254, 1]),
            // The codec gave a pixel too few.
            ((10, 9), (10, 10), [5, 6, 7]),
        ] as [((Int, Int), (Int, Int), [UInt8])])
    func `a flat color does not change`(from: (Int, Int), to: (Int, Int), color: [UInt8]) {
        let target = PixelSize(width: to.0, height: to.1)
        let source = Bitmap.flat(PixelSize(width: from.0, height: from.1), color)
        #expect(source.resized(to: target) == .flat(target, color))
    }
}
