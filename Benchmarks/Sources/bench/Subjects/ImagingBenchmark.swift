import CountingMalloc
import Foundation
import Imaging

/// Fitting a photo, beside the codec alone.
enum ImagingBenchmark: Subject {
    static let name = "imaging"
    static let summary =
        "A JPEG of 12 megapixels is fitted to 1024 pixels: processor time and memory as ratios to the codec alone."

    static func measure() async throws -> [Measurement] {
        let codec = try PlatformCodec.make()
        let file = try photo(codec)
        let fitter = PhotoFitter(codec: codec)
        let target = try fitter.fit(file).size
        let small = try codec.decode(try fitter.fit(file).jpeg, covering: target)
        let works = [
            Work(name: "codec") { count in
                for _ in 0..<count {
                    _ = try codec.decode(file, covering: target)
                    _ = try codec.encodeJPEG(small, quality: 0.8)
                }
            },
            Work(name: "fit") { count in for _ in 0..<count { _ = try fitter.fit(file) } },
        ]
        let costs = try await Comparison(works: works, count: 1, rounds: 21).costs()
        let peaks = try await works.asyncMap { work in try await Usage.allocations { try await work.run(1) }.peak }
        return [
            Measurement(
                name: "\(name)/JPEG", metric: .processorRatio,
                value: .ratio(costs[1].processor, to: costs[0].processor), goal: 1.15),
            Measurement(
                name: "\(name)/JPEG", metric: .memoryRatio, value: Spread(Double(peaks[1]) / Double(peaks[0])),
                goal: 1.2),
        ]
    }

    /// 4000×3000 pixels, smooth with texture.
    private static func photo(_ codec: any ImageCodec) throws -> Data {
        let size = PixelSize(width: 4_000, height: 3_000)
        var state: UInt32 = 12
        let noise = (0..<4_096).map { _ -> Int in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 16) % 41 - 20
        }
        let pixels = (0..<size.width * size.height).flatMap { index -> [UInt8] in
            let (x, y) = (index % size.width, index / size.width)
            let texture = noise[(x / 2 &* 31 &+ y / 2 &* 1_009) & 4_095]
            return [x * 200 / size.width, y * 200 / size.height, (x + y) % 200].map { UInt8(max(0, $0 + texture)) }
        }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else { throw BenchError("no bitmap") }
        return try codec.encodeJPEG(bitmap, quality: 0.92)
    }
}

extension Array {
    /// The results of a function, one after the other.
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
