import Imaging
import TestSupport
import Testing

@Suite struct PixelSizeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let from: (Int, Int)
        let to: (Int, Int)
        var testDescription: String { "\(from.0)×\(from.1) becomes \(to.0)×\(to.1)" }
    }

    @Test(arguments: [
        Case(from: (4000, 3000), to: (1024, 768)),
        Case(from: (3000, 4000), to: (768, 1024)),
        Case(from: (2048, 2048), to: (1024, 1024)),
        Case(from: (1025, 1024), to: (1024, 1023)),
        Case(from: (4032, 3021), to: (1024, 767)),
        Case(from: (3333, 1111), to: (1024, 341)),
        Case(from: (1, 5000), to: (1, 1024)),
        Case(from: (5000, 1), to: (1024, 1)),
        Case(from: (100_000_000, 1), to: (1024, 1)),
        Case(from: (1024, 1024), to: (1024, 1024)),
        Case(from: (1000, 10), to: (1000, 10)),
        Case(from: (1, 1), to: (1, 1)),
    ])
    func `the aspect ratio is kept, and nothing is enlarged`(_ size: Case) {
        let fitted = PixelSize(width: size.from.0, height: size.from.1).fitted(into: FittingPolicy().maximumSize)
        #expect(fitted == PixelSize(width: size.to.0, height: size.to.1))
    }

    @Test func `every size fits its box to the nearest pixel`() {
        var generator = SeededGenerator(seed: 1)
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
    @Test func `every new pixel is the mean of the area that it covers`() {
        let source = Bitmap.painted(PixelSize(width: 4, height: 2)) { x, y in [UInt8(x * 40), UInt8(y * 100), 7] }
        let halved = source.resized(to: PixelSize(width: 2, height: 1))
        #expect(halved[0, 0] == [20, 50, 7])
        #expect(halved[1, 0] == [100, 50, 7])
    }

    @Test func `a partly covered pixel has a partial weight`() {
        let source = Bitmap.painted(PixelSize(width: 3, height: 1)) { x, _ in [UInt8(x * 90), 0, 0] }
        let narrowed = source.resized(to: PixelSize(width: 2, height: 1))
        // The middle pixel is shared: (0 + 90/2) / 1.5 and (90/2 + 180) / 1.5.
        #expect(narrowed[0, 0] == [30, 0, 0])
        #expect(narrowed[1, 0] == [150, 0, 0])
    }

    @Test(arguments: [(1, 1), (7, 5), (64, 63), (100, 1), (1, 100), (101, 99)])
    func `a flat color does not change`(width: Int, height: Int) {
        let source = Bitmap.flat(PixelSize(width: 101, height: 99), [0, 128, 255])
        let target = PixelSize(width: width, height: height)
        #expect(source.resized(to: target) == .flat(target, [0, 128, 255]))
    }

    @Test func `a long thin picture accumulates no error and does not overflow`() {
        let source = Bitmap.flat(PixelSize(width: 200_000, height: 1), [255, 254, 1])
        #expect(source.resized(to: PixelSize(width: 1, height: 1))[0, 0] == [255, 254, 1])
    }

    @Test func `a picture is enlarged by a pixel if the codec gave too few`() {
        let source = Bitmap.flat(PixelSize(width: 10, height: 9), [5, 6, 7])
        let target = PixelSize(width: 10, height: 10)
        #expect(source.resized(to: target) == .flat(target, [5, 6, 7]))
    }
}
