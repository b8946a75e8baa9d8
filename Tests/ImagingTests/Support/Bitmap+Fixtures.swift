import Imaging
import Testing

extension Bitmap {
    /// A picture with a color for each pixel.
    static func painted(_ size: PixelSize, _ color: (_ x: Int, _ y: Int) -> [UInt8]) -> Bitmap {
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width { pixels += color(x, y) }
        }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else {
            Issue.record("A color is three bytes")
            return .flat(size, [0, 0, 0])
        }
        return bitmap
    }

    static func flat(_ size: PixelSize, _ color: [UInt8]) -> Bitmap { painted(size) { _, _ in color } }

    /// Red and green above, blue and white below. Every turn and every reflection changes it.
    static func quadrants(_ size: PixelSize) -> Bitmap {
        painted(size) { x, y in
            switch (x < size.width / 2, y < size.height / 2) {
            case (true, true): [255, 0, 0]
            case (false, true): [0, 255, 0]
            case (true, false): [0, 0, 255]
            case (false, false): [255, 255, 255]
            }
        }
    }

    /// Random pixels, which compress worst.
    static func noise(_ size: PixelSize, seed: UInt64) -> Bitmap {
        var generator = SeededGenerator(state: seed)
        return painted(size) { _, _ in (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    }

    subscript(x: Int, y: Int) -> [UInt8] {
        let start = (y * size.width + x) * 3
        return Array(pixels[start..<start + 3])
    }

    /// The colors in the middle of the four quadrants, from the top left, row by row.
    var quadrantColors: [[UInt8]] {
        let (left, right) = (size.width / 4, size.width * 3 / 4)
        let (top, bottom) = (size.height / 4, size.height * 3 / 4)
        return [self[left, top], self[right, top], self[left, bottom], self[right, bottom]]
    }
}

/// Whether two colors look the same after JPEG.
func isNear(_ color: [UInt8], _ expected: [UInt8], within tolerance: Int = 6) -> Bool {
    zip(color, expected).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
}
