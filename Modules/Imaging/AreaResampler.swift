extension Bitmap {
    /// The picture at another size. Each new pixel is the mean of the area that it covers.
    ///
    /// Area averaging neither rings nor aliases when it reduces a picture, and this module does not enlarge. It
    /// averages the stored (sRGB) values and not linear light, as the reduced scales of JPEG decoders do: mixing both
    /// would be visible. The result differs from the exact mean by its rounding only: a peak signal-to-noise ratio of
    /// 58 dB. A photo that a codec decoded at a reduced scale before differs more: see `TurboJPEGCodec`.
    ///
    /// - Complexity: O(pixels of the source); beyond the result it needs memory for two rows.
    package func resized(to target: PixelSize) -> Bitmap {
        guard target != size else { return self }
        var resampler = AreaResampler(source: size, target: target)
        pixels.withUnsafeBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: size.width * 3) {
                resampler.add(row: pixels[start..<start + size.width * 3])
            }
        }
        return Bitmap(size: target, filled: resampler.result, colorProfile: colorProfile)
    }
}

/// The source pixels that a target pixel covers along one axis, and their weights.
struct Coverage {
    /// The first and the last covered pixel. They are the same where the target is not smaller.
    let first: Int
    let last: Int
    /// The weights of the first, of the last, and of each pixel between. All weights add up to 1.
    let firstWeight: Float
    let lastWeight: Float
    let innerWeight: Float

    /// Target pixel `index` of `target` pixels over an axis of `source` pixels.
    ///
    /// It counts in units of 1/target of a source pixel: all edges are whole numbers, so no error accumulates.
    init(of index: Int, source: Int, target: Int) {
        let (unit, span) = (Int64(target), Int64(source))
        let start = Int64(index) * span
        let end = start + span
        first = Int(start / unit)
        last = Int((end - 1) / unit)
        let firstEnd = min(end, Int64(first + 1) * unit)
        firstWeight = Float(Double(firstEnd - start) / Double(span))
        lastWeight = last == first ? 0 : Float(Double(end - Int64(last) * unit) / Double(span))
        innerWeight = Float(Double(unit) / Double(span))
    }

    /// The weight of a pixel from `first` to `last`.
    func weight(of pixel: Int) -> Float {
        pixel == first ? firstWeight : pixel == last ? lastWeight : innerWeight
    }
}

/// Averages a picture whose rows come from top to bottom. The memory is that of the result and of a few rows.
struct AreaResampler {
    /// The pixels of the finished rows.
    private(set) var result: [UInt8] = []

    private let source: PixelSize
    private let target: PixelSize
    private let columns: [Coverage]
    private var rows: Coverage
    /// The first row of the current target row.
    private var first: [UInt8]
    /// The sums of the rows between the first and the last. Whole numbers keep them exact.
    private var inner: [UInt32]
    /// The mean of the rows.
    private var blended: [Float]
    private var sourceRow = 0
    private var targetRow = 0

    init(source: PixelSize, target: PixelSize) {
        self.source = source
        self.target = target
        columns = (0..<target.width).map { Coverage(of: $0, source: source.width, target: target.width) }
        rows = Coverage(of: 0, source: source.height, target: target.height)
        first = [UInt8](repeating: 0, count: source.width * 3)
        inner = [UInt32](repeating: 0, count: source.width * 3)
        blended = [Float](repeating: 0, count: source.width * 3)
        result.reserveCapacity(target.pixelCount * 3)
    }

    /// Adds the next row, of three bytes a pixel.
    mutating func add(row: Slice<UnsafeBufferPointer<UInt8>>) {
        defer { sourceRow += 1 }
        if source == target {
            result.append(contentsOf: row)
            return
        }
        let row = UnsafeBufferPointer(rebasing: row)
        // A row at the edge of two target rows counts for both.
        while targetRow < target.height {
            if sourceRow == rows.first {
                first.withUnsafeMutableBufferPointer { first in _ = first.update(from: row) }
            } else if sourceRow > rows.first, sourceRow < rows.last {
                addInner(row)
            }
            guard sourceRow == rows.last else { return }
            finishRow(last: row)
        }
    }

    private mutating func finishRow(last: UnsafeBufferPointer<UInt8>) {
        blend(last)
        narrow()
        targetRow += 1
        rows = Coverage(of: targetRow, source: source.height, target: target.height)
    }

    // The loops below are over pointers and without ranges, for debug builds, which inline neither buffers nor ranges.

    private mutating func addInner(_ row: UnsafeBufferPointer<UInt8>) {
        inner.withUnsafeMutableBufferPointer { inner in
            guard let sums = inner.baseAddress, let bytes = row.baseAddress else { return }
            let count = inner.count
            var index = 0
            while index < count {
                sums[index] &+= UInt32(bytes[index])
                index &+= 1
            }
        }
    }

    private mutating func blend(_ last: UnsafeBufferPointer<UInt8>) {
        let (firstWeight, innerWeight, lastWeight) = (rows.firstWeight, rows.innerWeight, rows.lastWeight)
        first.withUnsafeBufferPointer { first in
            inner.withUnsafeMutableBufferPointer { inner in
                blended.withUnsafeMutableBufferPointer { blended in
                    guard let start = first.baseAddress, let sums = inner.baseAddress, let end = last.baseAddress,
                        let means = blended.baseAddress
                    else { return }
                    let count = inner.count
                    var index = 0
                    while index < count {
                        means[index] =
                            Self.float(start[index]) * firstWeight + Float(Int32(truncatingIfNeeded: sums[index]))
                            * innerWeight + Self.float(end[index]) * lastWeight
                        sums[index] = 0
                        index &+= 1
                    }
                }
            }
        }
    }

    /// A byte as a number, without a conversion, which a debug build calls: 2²³ plus a byte has it in the lowest bits.
    @inline(__always)
    private static func float(_ byte: UInt8) -> Float { Float(bitPattern: 0x4B00_0000 | UInt32(byte)) - 8_388_608 }

    /// Appends a target row: the means of the blended pixels that each column covers.
    private mutating func narrow() {
        let start = result.count
        result.append(contentsOf: repeatElement(0, count: target.width * 3))
        blended.withUnsafeBufferPointer { blended in
            result.withUnsafeMutableBufferPointer { result in
                guard let blended = blended.baseAddress, let result = result.baseAddress else { return }
                var index = start
                for column in columns {
                    let (first, last) = (column.first &* 3, column.last &* 3)
                    let (firstWeight, lastWeight) = (column.firstWeight, column.lastWeight)
                    var red = blended[first] * firstWeight + blended[last] * lastWeight
                    var green = blended[first &+ 1] * firstWeight + blended[last &+ 1] * lastWeight
                    var blue = blended[first &+ 2] * firstWeight + blended[last &+ 2] * lastWeight
                    var place = first &+ 3
                    if place < last {
                        // Double, because thousands of pixels can be between.
                        var (reds, greens, blues) = (0.0, 0.0, 0.0)
                        while place < last {
                            reds += Double(blended[place])
                            greens += Double(blended[place &+ 1])
                            blues += Double(blended[place &+ 2])
                            place &+= 3
                        }
                        red += Float(reds) * column.innerWeight
                        green += Float(greens) * column.innerWeight
                        blue += Float(blues) * column.innerWeight
                    }
                    result[index] = Self.rounded(red)
                    result[index &+ 1] = Self.rounded(green)
                    result[index &+ 2] = Self.rounded(blue)
                    index &+= 3
                }
            }
        }
    }

    @inline(__always)
    private static func rounded(_ mean: Float) -> UInt8 { UInt8(truncatingIfNeeded: Int32(min(mean + 0.5, 255))) }
}

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
