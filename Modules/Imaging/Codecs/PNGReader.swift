#if TurboJPEG && os(Linux)
import CPNG
import Foundation

/// Decodes PNG of every kind (palette, grayscale, 16 bits, transparent, interlaced) to 8-bit RGB with libpng.
///
/// It reads row by row and reduces while it reads, so the memory depends on the result and the width, and not on the
/// height that the header claims. An interlaced PNG is whole only after seven passes over its rows: all of them are
/// kept, and one that takes more than 128 MB is refused. Of an animated PNG the first picture is read.
struct PNGReader: ~Copyable {
    private let rows: UnsafeMutablePointer<png_rows>
    private let size: PixelSize
    /// The row that was read last; all rows of an interlaced PNG.
    private var kept: [UInt8]
    /// The bytes of a row.
    private var length: Int { size.width * Int(rows.pointee.channels) }

    private static let maximumMemory = 128 << 20

    static func decode(_ data: Data, header: ImageHeader, covering needed: PixelSize) throws(ImagingError) -> Bitmap {
        try data.bytes.withUnsafeBytes { bytes throws(ImagingError) in
            var reader = try PNGReader(bytes, size: header.size)
            let fits = needed.width <= header.size.width && needed.height <= header.size.height
            return try reader.picture(reducedTo: fits ? needed : header.size)
        }
    }

    /// Reads up to the pixels. The bytes must stay valid as long as the reader is used.
    private init(_ bytes: UnsafeRawBufferPointer, size: PixelSize) throws(ImagingError) {
        rows = .allocate(capacity: 1)
        rows.initialize(to: png_rows())
        rows.pointee.bytes = bytes.bindMemory(to: UInt8.self).baseAddress
        rows.pointee.count = bytes.count
        self.size = size
        kept = []
        guard png_rows_open(rows) != 0 else { throw failure }
        guard size == PixelSize(exactly: Int(rows.pointee.width), Int(rows.pointee.height)) else {
            throw ImagingError(.decodingFailed, "The PNG has two different sizes: choose another file.")
        }
        let keptRows = rows.pointee.passes > 1 ? size.height : 1
        guard keptRows == 1 || length <= Self.maximumMemory / keptRows else {
            throw ImagingError(
                .decodingFailed, "The PNG is interlaced and has \(size) pixels: save it without interlacing.",
                sourceSize: size)
        }
        kept = [UInt8](repeating: 0, count: length * keptRows)
    }

    deinit {
        png_rows_close(rows)
        rows.deallocate()
    }

    private mutating func picture(reducedTo target: PixelSize) throws(ImagingError) -> Bitmap {
        var resampler = AreaResampler(source: size, target: target)
        // Cleared by one call: a debug build inlines none.
        var pixels = [UInt8](unsafeUninitializedCapacity: target.pixelCount * 3) { bytes, count in
            count = bytes.count
            if let start = bytes.baseAddress { memset(start, 0, count) }
        }
        for pass in 1...rows.pointee.passes {
            for y in 0..<size.height {
                let start = try readRow(y)
                guard pass == rows.pointee.passes else { continue }
                drawOverWhite(at: start)
                pixels.withUnsafeMutableBufferPointer { pixels in
                    kept.withUnsafeBufferPointer { kept in
                        guard let result = pixels.baseAddress else { return }
                        let row = UnsafeBufferPointer(rebasing: kept[start..<start + size.width * 3])
                        resampler.add(row: row, to: result)
                    }
                }
            }
        }
        let profile = rows.pointee.profile.map { Data(bytes: $0, count: Int(rows.pointee.profile_count)) }
        return Bitmap(size: target, filled: pixels, colorProfile: profile.flatMap(ColorProfile.rgb))
    }

    /// Reads a row to its place in `kept`, which it returns.
    private mutating func readRow(_ y: Int) throws(ImagingError) -> Int {
        let rows = rows
        let start = rows.pointee.passes > 1 ? y * length : 0
        let isRead = kept.withUnsafeMutableBufferPointer { kept in
            png_rows_next(rows, kept.baseAddress.map { $0 + start }) != 0
        }
        guard isRead else { throw failure }
        return start
    }

    /// Makes RGB of a row with alpha, over white, as viewers draw it, at the front of its place.
    private mutating func drawOverWhite(at start: Int) {
        guard rows.pointee.channels == 4 else { return }
        let width = size.width
        kept.withUnsafeMutableBufferPointer { kept in
            for pixel in 0..<width {
                let alpha = Int(kept[start + pixel * 4 + 3])
                let white = 255 * (255 - alpha) + 127
                for channel in 0..<3 {
                    let color = Int(kept[start + pixel * 4 + channel])
                    kept[start + pixel * 3 + channel] = UInt8((color * alpha + white) / 255)
                }
            }
        }
    }

    private var failure: ImagingError {
        let reason = withUnsafeBytes(of: rows.pointee.message) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        return ImagingError(
            .decodingFailed, "libpng cannot decode the picture (\(reason)): choose another picture.", sourceSize: size)
    }
}
#endif
