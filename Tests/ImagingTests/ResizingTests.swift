import Imaging
import Testing

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

    @Test func `averaging keeps the mean of the picture`() {
        let source = Bitmap.noise(PixelSize(width: 97, height: 61), seed: 5)
        let resized = source.resized(to: PixelSize(width: 13, height: 9))
        func mean(_ bitmap: Bitmap) -> Double {
            Double(bitmap.pixels.reduce(0) { $0 + Int($1) }) / Double(bitmap.pixels.count)
        }
        #expect(abs(mean(source) - mean(resized)) < 0.5)
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
