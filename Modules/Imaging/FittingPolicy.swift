/// What an uploaded photo may be at most, and what may be tried to get there. Pure values; every default is the
/// service's own limit.
public struct FittingPolicy: Sendable, Hashable {
    /// The box the upright picture must fit into, in pixels.
    public var maximumSize = PixelSize(width: 1024, height: 1024)
    /// The size of the finished JPEG at most, in bytes: 5 MB, counted as 5 × 1024 × 1024.
    public var maximumBytes = 5 * 1024 * 1024
    /// The JPEG qualities to try, in this order; the first that fits is taken. 0 is the worst and 1 the best.
    public var qualities = FittingPolicy.steps(from: 8, downTo: 1)
    /// The pixels a source may claim in its header. A file of a few kilobytes can claim 100 megapixels, which take
    /// 300 MB once decoded from a PNG and as much or more from a progressive JPEG: choose less where memory is short.
    public var maximumSourcePixels = 100_000_000
    /// The size of a source file at most, in bytes.
    public var maximumSourceBytes = 64 * 1024 * 1024

    /// The service's limits.
    public init() {}

    /// Tenths, each divided on its own: subtracting 0.1 again and again would drift off 0.1.
    private static func steps(from highest: Int, downTo lowest: Int) -> [Double] {
        stride(from: highest, through: lowest, by: -1).map { Double($0) / 10 }
    }

    /// Refuses limits that no picture could meet, before any work is done.
    func validate() throws(ImagingError) {
        guard !qualities.isEmpty, qualities.allSatisfy((0...1).contains) else {
            throw ImagingError(.invalidPolicy, "Give the policy at least one quality, each between 0 and 1.")
        }
        guard maximumBytes > 0, maximumSourcePixels > 0, maximumSourceBytes > 0 else {
            throw ImagingError(.invalidPolicy, "Give the policy limits above 0 bytes and 0 pixels.")
        }
    }
}
