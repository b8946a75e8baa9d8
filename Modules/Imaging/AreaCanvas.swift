/// Averages a picture whose pixels come in any order, as those of an interlaced file do. The memory is four or eight
/// times that of the result.
struct AreaCanvas {
    private let source: PixelSize
    private let target: PixelSize
    private let columns: [Share]
    private let rows: [Share]
    /// The sums of all target pixels; empty where the size stays.
    private var sums: [SIMD4<Float>]
    /// The sums of the row that is being added, and a place for what is right of the last pixel: nothing.
    private var line: [SIMD4<Float>]
    private var copied: [UInt8]

    /// How a source pixel counts along one axis: for one target pixel, or for two neighbors.
    private struct Share {
        var target: Int
        var weight: Float
        var nextWeight: Float = 0
    }

    /// - Precondition: `target` is not larger than `source` on either side.
    init(source: PixelSize, target: PixelSize) {
        self.source = source
        self.target = target
        columns = Self.shares(source: source.width, target: target.width)
        rows = Self.shares(source: source.height, target: target.height)
        sums = source == target ? [] : [SIMD4<Float>](repeating: .zero, count: target.pixelCount)
        line = [SIMD4<Float>](repeating: .zero, count: target.width + 1)
        copied = source == target ? [UInt8](repeating: 0, count: target.pixelCount * 3) : []
    }

    private static func shares(source: Int, target: Int) -> [Share] {
        var shares: [Share] = []
        shares.reserveCapacity(source)
        for index in 0..<target {
            let coverage = Coverage(of: index, source: source, target: target)
            for pixel in coverage.first...coverage.last {
                let weight = coverage.weight(of: pixel)
                if pixel < shares.count {
                    shares[pixel].nextWeight = weight
                } else {
                    shares.append(Share(target: index, weight: weight))
                }
            }
        }
        return shares
    }

    /// Adds pixels of one row: those of `pixels`, three bytes each, at the columns `start`, `start + step` and so on.
    ///
    /// The row is reduced first, so that a pixel costs two additions, independent of the height.
    mutating func add(_ pixels: UnsafeBufferPointer<UInt8>, start: Int, step: Int, row: Int) {
        guard !sums.isEmpty else { return copy(pixels, start: start, step: step, row: row) }
        let (width, share) = (source.width, rows[row])
        line.withUnsafeMutableBufferPointer { line in
            line.update(repeating: .zero)
            columns.withUnsafeBufferPointer { columns in
                var (column, index) = (start, 0)
                while column < width {
                    let value = SIMD4(
                        Float(pixels[index]), Float(pixels[index &+ 1]), Float(pixels[index &+ 2]), 0)
                    let share = columns[column]
                    line[share.target] += value * share.weight
                    line[share.target &+ 1] += value * share.nextWeight
                    column &+= step
                    index &+= 3
                }
            }
            sums.withUnsafeMutableBufferPointer { sums in
                let place = share.target * target.width
                for index in 0..<target.width { sums[place &+ index] += line[index] * share.weight }
                guard share.nextWeight > 0 else { return }
                let next = place + target.width
                for index in 0..<target.width { sums[next &+ index] += line[index] * share.nextWeight }
            }
        }
    }

    private mutating func copy(_ pixels: UnsafeBufferPointer<UInt8>, start: Int, step: Int, row: Int) {
        let width = source.width
        copied.withUnsafeMutableBufferPointer { copied in
            var (column, index) = (start, 0)
            while column < width {
                let place = (row &* width &+ column) &* 3
                copied[place] = pixels[index]
                copied[place &+ 1] = pixels[index &+ 1]
                copied[place &+ 2] = pixels[index &+ 2]
                column &+= step
                index &+= 3
            }
        }
    }

    /// The pixels of the target.
    var result: [UInt8] {
        guard !sums.isEmpty else { return copied }
        return [UInt8](unsafeUninitializedCapacity: sums.count * 3) { bytes, count in
            for sum in sums {
                for channel in 0..<3 {
                    bytes.initializeElement(at: count, to: UInt8(min(sum[channel] + 0.5, 255)))
                    count += 1
                }
            }
        }
    }
}
