import Foundation

extension Bitmap {
    /// The picture at another size. Each new pixel is the mean of the area that it covers.
    ///
    /// Area averaging neither rings nor aliases when it reduces a picture, and this module does not enlarge. It
    /// averages the stored (sRGB) values and not linear light, as the reduced scales of JPEG decoders do: mixing both
    /// would be visible. The result differs from the exact mean by its rounding only: a peak signal-to-noise ratio of
    /// 58 dB. A photo that a codec decoded at a reduced scale before differs more: see `TurboJPEGCodec`.
    ///
    /// - Complexity: O(pixels of the source); beyond the source it needs memory for a few rows, as the result takes the
    ///   place of a picture that is not used any more.
    package consuming func resized(to target: PixelSize) -> Bitmap {
        guard target != size else { return self }
        let (length, count) = (size.width * 3, target.pixelCount * 3)
        // A row of the target lies before the rows of the source that are still to be read, but where a codec gave a
        // pixel too few.
        let isSmaller = target.width <= size.width && target.height <= size.height
        if !isSmaller { pixels = [UInt8](repeating: 0, count: count) + pixels }
        var resampler = AreaResampler(source: size, target: target)
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let first = pixels.baseAddress else { return }
            for start in stride(from: isSmaller ? 0 : count, to: pixels.count, by: length) {
                resampler.add(row: UnsafeBufferPointer(start: first + start, count: length), to: first)
            }
        }
        pixels.removeLast(pixels.count - count)
        size = target
        return self
    }
}

/// Averages a picture whose rows come from top to bottom. The memory is that of a few rows, which it owns.
///
/// A debug build, such as that of a demonstration, inlines no call. So the loops over samples are over pointers and
/// without ranges, count with whole numbers, which need no conversion, and take eight samples as one word.
struct AreaResampler: ~Copyable {
    private let source: PixelSize
    private let target: PixelSize
    private let columns: UnsafeMutablePointer<Coverage>
    private var rows: Coverage
    /// The words of a row.
    private let count: Int
    /// A row that is not made of whole words.
    private let padded: UnsafeMutablePointer<UInt64>
    /// The first row of the current target row.
    private let first: UnsafeMutablePointer<UInt64>
    /// The sums of the rows between the first and the last: of the samples with even places, and behind them of the
    /// others. Each has 16 bits.
    private let even: UnsafeMutablePointer<UInt64>
    private let odd: UnsafeMutablePointer<UInt64>
    private var innerRows = 0
    /// The weighted sums of inner rows of which there are too many for 16 bits. Empty before.
    private var earlier: [UInt32] = []
    /// The means of the rows, in units of 1/``Coverage/whole``. Two are a word.
    private let means: UnsafeMutablePointer<UInt64>
    private var sourceRow = 0
    private var targetRow = 0

    init(source: PixelSize, target: PixelSize) {
        self.source = source
        self.target = target
        columns = .allocate(capacity: target.width)
        for index in 0..<target.width {
            (columns + index).initialize(to: Coverage(of: index, source: source.width, target: target.width))
        }
        rows = Coverage(of: 0, source: source.height, target: target.height)
        count = (source.width * 3 + 7) / 8
        padded = .allocate(capacity: count * 8)
        padded.initialize(repeating: 0, count: count * 8)
        (first, even, odd, means) = (padded + count, padded + count * 2, padded + count * 3, padded + count * 4)
    }

    deinit {
        columns.deallocate()
        padded.deallocate()
    }

    /// Adds the next row, of three bytes a pixel, and writes the pixels of the target rows that it finishes.
    mutating func add(row: UnsafeBufferPointer<UInt8>, to result: UnsafeMutablePointer<UInt8>) {
        defer { sourceRow += 1 }
        precondition(row.count == source.width * 3)
        guard let bytes = row.baseAddress else { return }
        if source == target {
            memcpy(result + sourceRow * row.count, bytes, row.count)
        } else if row.count % 8 == 0, Int(bitPattern: bytes) % 8 == 0 {
            bytes.withMemoryRebound(to: UInt64.self, capacity: count) { add(words: $0, to: result) }
        } else {
            memcpy(padded, bytes, row.count)
            add(words: padded, to: result)
        }
    }

    private mutating func add(words: UnsafePointer<UInt64>, to result: UnsafeMutablePointer<UInt8>) {
        // A row at the edge of two target rows counts for both.
        while targetRow < target.height {
            if sourceRow == rows.first {
                memcpy(first, words, count * 8)
            } else if sourceRow > rows.first, sourceRow < rows.last {
                addInner(words)
            }
            guard sourceRow == rows.last else { return }
            blend(words)
            narrow(to: result + targetRow * target.width * 3)
            targetRow += 1
            rows = Coverage(of: targetRow, source: source.height, target: target.height)
        }
    }

    private mutating func addInner(_ row: UnsafePointer<UInt64>) {
        // So many rows of the largest samples fit in 16 bits.
        if innerRows == 257 { addEarlier() }
        innerRows += 1
        let (even, odd, count, mask) = (even, odd, count, UInt64(0x00FF_00FF_00FF_00FF))
        var index = 0
        while index < count {
            let word = row[index]
            even[index] &+= word & mask
            odd[index] &+= (word &>> 8) & mask
            index &+= 1
        }
    }

    /// Adds up the inner rows so far.
    private mutating func addEarlier() {
        if earlier.isEmpty { earlier = [UInt32](repeating: 0, count: count * 8) }
        for index in earlier.indices {
            let word = index % 2 == 0 ? even[index / 8] : odd[index / 8]
            earlier[index] &+= UInt32(word >> UInt64(index % 8 / 2 * 16) & 0xFFFF) &* UInt32(rows.innerWeight)
        }
        clearInner()
    }

    private mutating func clearInner() {
        innerRows = 0
        // Both: the sums lie one behind the other.
        memset(even, 0, count * 16)
    }

    /// Finds the means of the rows. A sample with its weight fits in 32 bits, so that a word has two.
    private mutating func blend(_ last: UnsafePointer<UInt64>) {
        let (first, even, odd, means, count) = (first, even, odd, means, count)
        let (firstWeight, innerWeight, lastWeight) = (rows.firstWeight, rows.innerWeight, rows.lastWeight)
        let bytes: UInt64 = 0x0000_00FF_0000_00FF
        let sums: UInt64 = 0x0000_FFFF_0000_FFFF
        let low: UInt64 = 0x0000_0000_FFFF_FFFF
        var (index, place) = (0, 0)
        while index < count {
            let (start, end, evens, odds) = (first[index], last[index], even[index], odd[index])
            // The samples 0 and 4, 1 and 5, 2 and 6, 3 and 7.
            let one = (start & bytes) &* firstWeight &+ (evens & sums) &* innerWeight &+ (end & bytes) &* lastWeight
            let two =
                ((start &>> 8) & bytes) &* firstWeight &+ (odds & sums) &* innerWeight
                &+ ((end &>> 8) & bytes) &* lastWeight
            let three =
                ((start &>> 16) & bytes) &* firstWeight &+ ((evens &>> 16) & sums) &* innerWeight
                &+ ((end &>> 16) & bytes) &* lastWeight
            let four =
                ((start &>> 24) & bytes) &* firstWeight &+ ((odds &>> 16) & sums) &* innerWeight
                &+ ((end &>> 24) & bytes) &* lastWeight
            means[place] = one & low | two &<< 32
            means[place &+ 1] = three & low | four &<< 32
            means[place &+ 2] = one &>> 32 | two & ~low
            means[place &+ 3] = three &>> 32 | four & ~low
            index &+= 1
            place &+= 4
        }
        if innerRows > 0 { clearInner() }
        guard !earlier.isEmpty else { return }
        means.withMemoryRebound(to: UInt32.self, capacity: count * 8) { means in
            for index in earlier.indices { means[index] &+= earlier[index] }
        }
        earlier = []
    }

    /// Fills a target row with the means of the samples that each column covers.
    private func narrow(to result: UnsafeMutablePointer<UInt8>) {
        let (columns, count) = (columns, target.width)
        // Means and weights have 24 bits after the point each.
        let half = UInt64(1) &<< 47
        means.withMemoryRebound(to: UInt32.self, capacity: self.count * 8) { means in
            var (index, column) = (0, 0)
            while column < count {
                let coverage = columns[column]
                let (first, last) = (coverage.first &* 3, coverage.last &* 3)
                var (reds, greens, blues) = (UInt64(0), UInt64(0), UInt64(0))
                var place = first &+ 3
                while place < last {
                    reds &+= UInt64(means[place])
                    greens &+= UInt64(means[place &+ 1])
                    blues &+= UInt64(means[place &+ 2])
                    place &+= 3
                }
                let (firstWeight, lastWeight) = (coverage.firstWeight, coverage.lastWeight)
                reds = reds &* coverage.innerWeight &+ UInt64(means[first]) &* firstWeight
                greens = greens &* coverage.innerWeight &+ UInt64(means[first &+ 1]) &* firstWeight
                blues = blues &* coverage.innerWeight &+ UInt64(means[first &+ 2]) &* firstWeight
                reds = reds &+ UInt64(means[last]) &* lastWeight &+ half
                greens = greens &+ UInt64(means[last &+ 1]) &* lastWeight &+ half
                blues = blues &+ UInt64(means[last &+ 2]) &* lastWeight &+ half
                result[index] = UInt8(truncatingIfNeeded: reds &>> 48)
                result[index &+ 1] = UInt8(truncatingIfNeeded: greens &>> 48)
                result[index &+ 2] = UInt8(truncatingIfNeeded: blues &>> 48)
                index &+= 3
                column &+= 1
            }
        }
    }
}
