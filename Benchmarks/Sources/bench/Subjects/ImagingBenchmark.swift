import CountingMalloc
import Foundation
import Imaging
import PlainPNG

/// Fitting a photo, beside the codec alone.
enum ImagingBenchmark: Subject {
    static let name = "imaging"
    static let summary =
        "A JPEG and a PNG of 12 megapixels are fitted to 1024 pixels: processor time and memory as ratios to the codec "
        + "alone, which for PNG is libpng, reading row by row, and a bitmap of the result's size."

    static func measure() async throws -> [Measurement] {
        let codec = try PlatformCodec.make()
        let fitter = PhotoFitter(codec: codec)
        let photo = try photo()
        let jpeg = try codec.encodeJPEG(photo, quality: 0.92)
        let target = try fitter.fit(jpeg).size
        let small = try codec.decode(try fitter.fit(jpeg).jpeg, covering: target)
        let ofJPEG = try await compare("JPEG", fitting: jpeg, with: fitter) {
            _ = try codec.decode(jpeg, covering: target)
            _ = try codec.encodeJPEG(small, quality: 0.8)
        }
        guard let png = png(photo) else { return ofJPEG }
        let ofPNG = try await compare("PNG", fitting: png, with: fitter) {
            var row = [UInt8](repeating: 0, count: photo.size.width * 3)
            let bitmap = [UInt8](repeating: 0, count: target.pixelCount * 3)
            let isRead = png.withUnsafeBytes { bytes in
                bytes.baseAddress.map { readPNG($0, bytes.count, &row) } == 1
            }
            guard isRead else { throw BenchError("libpng failed") }
            _ = try codec.encodeJPEG(small, quality: 0.8)
            withExtendedLifetime(bitmap) {}
        }
        return ofJPEG + ofPNG
    }

    private static func compare(
        _ label: String, fitting file: Data, with fitter: PhotoFitter, alone: @escaping @Sendable () throws -> Void
    ) async throws -> [Measurement] {
        let works = [
            Work(name: "codec") { count in for _ in 0..<count { try alone() } },
            Work(name: "fit") { count in for _ in 0..<count { _ = try fitter.fit(file) } },
        ]
        let costs = try await Comparison(works: works, count: 1, rounds: 21).costs()
        var peaks: [Double] = []
        for work in works { peaks.append(Double(try await Usage.allocations { try await work.run(1) }.peak)) }
        return [
            Measurement(
                name: "\(name)/\(label)", metric: .processorRatio,
                value: .ratio(costs[1].processor, to: costs[0].processor), goal: 1.15),
            Measurement(
                name: "\(name)/\(label)", metric: .memoryRatio, value: Spread(peaks[1] / peaks[0]), goal: 1.2),
        ]
    }

    /// 4000×3000 pixels, smooth with texture.
    private static func photo() throws -> Bitmap {
        let size = PixelSize(width: 4_000, height: 3_000)
        var state: UInt32 = 12
        let noise = (0..<4_096).map { _ -> Int in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 16) % 41 - 20
        }
        let pixels = [UInt8](unsafeUninitializedCapacity: size.pixelCount * 3) { pixels, count in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let texture = noise[(x / 2 &* 31 &+ y / 2 &* 1_009) & 4_095]
                    for value in [x * 200 / size.width, y * 200 / size.height, (x + y) % 200] {
                        pixels.initializeElement(at: count, to: UInt8(max(0, value + texture)))
                        count += 1
                    }
                }
            }
        }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else { throw BenchError("no bitmap") }
        return bitmap
    }

    /// The picture as PNG. `nil`: there is no libpng to compare with.
    private static func png(_ bitmap: Bitmap) -> Data? {
        var count = 0
        guard let bytes = writePNG(bitmap.pixels, Int32(bitmap.size.width), Int32(bitmap.size.height), &count) else {
            return nil
        }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }
}
