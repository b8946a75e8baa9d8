#if TurboJPEG && os(Linux)
import CPNG
import Foundation

/// Decodes PNG of every kind (palette, grayscale, 16 bits, transparent, interlaced) to 8-bit RGB with libpng.
///
/// It reads row by row and reduces while it reads, so the memory depends on the result and the width, and not on the
/// height that the header claims. Of an animated PNG it reads the first picture.
struct PNGReader: ~Copyable {
    private let rows: UnsafeMutablePointer<png_rows>
    private let size: PixelSize
    private var row: [UInt8]

    static func decode(
        _ data: Data, header: ImageHeader, covering needed: PixelSize
    ) throws(ImagingError) -> Bitmap {
        try data.withBytes { bytes throws(ImagingError) in
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
        row = []
        guard png_rows_open(rows) != 0 else { throw failure }
        guard size == PixelSize(exactly: Int(rows.pointee.width), Int(rows.pointee.height)) else {
            throw ImagingError(.decodingFailed, "The PNG has two different sizes: choose another file.")
        }
        row = [UInt8](repeating: 0, count: size.width * Int(rows.pointee.channels))
    }

    deinit {
        png_rows_close(rows)
        rows.deallocate()
    }

    private mutating func picture(reducedTo target: PixelSize) throws(ImagingError) -> Bitmap {
        let pixels = rows.pointee.interlaced != 0 ? try interlaced(target) : try sequential(target)
        let profile = rows.pointee.profile.map { Data(bytes: $0, count: Int(rows.pointee.profile_count)) }
        return Bitmap(size: target, filled: pixels, colorProfile: profile.flatMap(ColorProfile.rgb))
    }

    private mutating func sequential(_ target: PixelSize) throws(ImagingError) -> [UInt8] {
        var resampler = AreaResampler(source: size, target: target)
        var pixels = [UInt8](unsafeUninitializedCapacity: target.pixelCount * 3) { bytes, count in
            count = bytes.count
            UnsafeMutableRawBufferPointer(bytes).clear()
        }
        for _ in 0..<size.height {
            try readRow(of: size.width)
            pixels.withUnsafeMutableBufferPointer { pixels in
                row.withUnsafeBufferPointer { row in
                    guard let result = pixels.baseAddress else { return }
                    resampler.add(row: UnsafeBufferPointer(rebasing: row.prefix(size.width * 3)), to: result)
                }
            }
        }
        return pixels
    }

    /// Adam7 (ISO/IEC 15948, 8.2): seven passes, each with the pixels of a coarser grid.
    private mutating func interlaced(_ target: PixelSize) throws(ImagingError) -> [UInt8] {
        var canvas = AreaCanvas(source: size, target: target)
        let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        for (left, top, across, down) in passes where left < size.width {
            for y in stride(from: top, to: size.height, by: down) {
                try readRow(of: (size.width - left + across - 1) / across)
                row.withUnsafeBufferPointer { canvas.add($0, start: left, step: across, row: y) }
            }
        }
        return canvas.result
    }

    /// Reads the next row to the front of `row`: RGB, over white, as viewers draw it.
    private mutating func readRow(of width: Int) throws(ImagingError) {
        let (rows, hasAlpha) = (rows, rows.pointee.channels == 4)
        let isRead = row.withUnsafeMutableBufferPointer { row in
            guard png_rows_next(rows, row.baseAddress) != 0 else { return false }
            guard hasAlpha else { return true }
            for pixel in 0..<width {
                let alpha = Int(row[pixel * 4 + 3])
                let white = 255 * (255 - alpha) + 127
                for channel in 0..<3 {
                    row[pixel * 3 + channel] = UInt8((Int(row[pixel * 4 + channel]) * alpha + white) / 255)
                }
            }
            return true
        }
        guard isRead else { throw failure }
    }

    private var failure: ImagingError {
        let reason = withUnsafeBytes(of: rows.pointee.message) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        return ImagingError(
            .decodingFailed, "libpng cannot decode the picture (\(reason)): choose another picture.", sourceSize: size
        )
    }
}
#endif
