public import Foundation

/// A decoded picture: 8-bit red, green and blue, row by row from the top left, without padding and without alpha.
public struct Bitmap: Sendable, Equatable {
    /// Width and height.
    public let size: PixelSize
    /// Three bytes a pixel, `size.pixelCount * 3` in all.
    public let pixels: [UInt8]
    /// The ICC profile of the colours; `nil` means sRGB.
    ///
    /// A codec that does not convert colours sets the source's profile: without it, a photo in Display P3 turns pale.
    public var colorProfile: Data?

    /// Creates a picture from its bytes.
    ///
    /// - Returns: `nil` unless `pixels` holds exactly three bytes for every pixel of `size`.
    public init?(size: PixelSize, pixels: [UInt8], colorProfile: Data? = nil) {
        let (expected, overflow) = size.pixelCount.multipliedReportingOverflow(by: 3)
        guard !overflow, pixels.count == expected else { return nil }
        self.init(size: size, filled: pixels, colorProfile: colorProfile)
    }

    /// Creates a picture from as many bytes as it needs.
    init(size: PixelSize, filled pixels: [UInt8], colorProfile: Data?) {
        assert(pixels.count == size.pixelCount * 3)
        self.size = size
        self.pixels = pixels
        self.colorProfile = colorProfile
    }
}

extension Bitmap {
    /// The picture at another size. Each new pixel is the mean of the area that it covers.
    ///
    /// Area averaging neither rings nor aliases when it reduces a picture, and this module does not enlarge. It
    /// averages the stored (sRGB) values and not linear light, as the reduced scales of JPEG decoders do: mixing both
    /// would be visible.
    ///
    /// - Complexity: O(pixels of the source); beyond the result it needs memory for two rows.
    package func resized(to target: PixelSize) -> Bitmap {
        guard target != size else { return self }
        var resampler = AreaResampler(source: size, target: target)
        let resized = pixels.withUnsafeBufferPointer { resampler.resample($0) }
        return Bitmap(size: target, filled: resized, colorProfile: colorProfile)
    }
}

/// The source pixels that a target pixel covers along one axis, and their weights.
struct Coverage {
    /// The first and the last covered pixel. They are the same where the target is not smaller.
    let first: Int
    let last: Int
    /// The weights of the first, of the last, and of each pixel between. All weights add up to 1.
    let firstWeight: Double
    let lastWeight: Double
    let innerWeight: Double

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
        firstWeight = Double(firstEnd - start) / Double(span)
        lastWeight = last == first ? 0 : Double(end - Int64(last) * unit) / Double(span)
        innerWeight = Double(unit) / Double(span)
    }

    /// The weight of a pixel from `first` to `last`.
    func weight(of pixel: Int) -> Double {
        pixel == first ? firstWeight : pixel == last ? lastWeight : innerWeight
    }
}

/// Reads the source once, from top to bottom: it narrows each row and adds it to its target row.
private struct AreaResampler {
    let source: PixelSize
    let target: PixelSize
    let columns: [Coverage]
    /// A source row narrowed to the target's width.
    var narrowed: [Double]
    /// The sums of the current target row.
    var sums: [Double]

    init(source: PixelSize, target: PixelSize) {
        self.source = source
        self.target = target
        columns = (0..<target.width).map { Coverage(of: $0, source: source.width, target: target.width) }
        narrowed = [Double](repeating: 0, count: target.width * 3)
        sums = narrowed
    }

    mutating func resample(_ pixels: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(target.pixelCount * 3)
        // The last source row of a target row is often the first of the next one: it is narrowed once.
        var narrowedRow = -1
        for y in 0..<target.height {
            let rows = Coverage(of: y, source: source.height, target: target.height)
            for index in sums.indices { sums[index] = 0.5 }
            for row in rows.first...rows.last {
                if row != narrowedRow {
                    narrow(pixels, row: row)
                    narrowedRow = row
                }
                add(weight: rows.weight(of: row))
            }
            result.append(contentsOf: sums.lazy.map { UInt8($0) })
        }
        return result
    }

    private mutating func narrow(_ pixels: UnsafeBufferPointer<UInt8>, row: Int) {
        let start = row * source.width * 3
        columns.withUnsafeBufferPointer { columns in
            narrowed.withUnsafeMutableBufferPointer { narrowed in
                for (x, column) in columns.enumerated() {
                    let (left, right) = (start + column.first * 3, start + column.last * 3)
                    for channel in 0..<3 {
                        // Whole numbers keep the sum of any number of pixels exact.
                        var inner: Int64 = 0
                        for index in stride(from: left + 3 + channel, to: right, by: 3) {
                            inner &+= Int64(pixels[index])
                        }
                        narrowed[x * 3 + channel] =
                            Double(pixels[left + channel]) * column.firstWeight
                            + Double(inner) * column.innerWeight
                            + Double(pixels[right + channel]) * column.lastWeight
                    }
                }
            }
        }
    }

    private mutating func add(weight: Double) {
        narrowed.withUnsafeBufferPointer { narrowed in
            sums.withUnsafeMutableBufferPointer { sums in
                for index in sums.indices { sums[index] += narrowed[index] * weight }
            }
        }
    }
}
