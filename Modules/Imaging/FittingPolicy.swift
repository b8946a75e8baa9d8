/// The limits of an uploaded photo, and the JPEG qualities to try. Every default is the service's own limit.
public struct FittingPolicy: Sendable, Hashable {
    /// The maximum size of the upright picture, in pixels.
    public var maximumSize = PixelSize(width: 1024, height: 1024)
    /// The maximum size of the JPEG, in bytes: 5 × 1024 × 1024.
    public var maximumBytes = 5 * 1024 * 1024
    /// The JPEG qualities to try, in this order, from 0 (worst) to 1 (best). The first that fits is used.
    public var qualities = FittingPolicy.steps(from: 8, downTo: 1)
    /// The maximum number of pixels in a source's header. A file of a few kilobytes can claim 100 megapixels, which
    /// take 300 MB to decode as a PNG, and as much or more as a progressive JPEG: choose less where memory is short.
    public var maximumSourcePixels = 100_000_000
    /// The maximum size of a source file, in bytes.
    public var maximumSourceBytes = 64 * 1024 * 1024

    /// Creates a policy with the service's limits.
    public init() {}

    /// Tenths. Each is a division, because repeated subtraction of 0.1 accumulates an error.
    private static func steps(from highest: Int, downTo lowest: Int) -> [Double] {
        stride(from: highest, through: lowest, by: -1).map { Double($0) / 10 }
    }

    /// Throws for limits that no picture can meet.
    func validate() throws(ImagingError) {
        guard !qualities.isEmpty, qualities.allSatisfy((0...1).contains) else {
            throw ImagingError(.invalidPolicy, "Give the policy at least one quality, each between 0 and 1.")
        }
        guard maximumBytes > 0, maximumSourcePixels > 0, maximumSourceBytes > 0 else {
            throw ImagingError(.invalidPolicy, "Give the policy limits above 0 bytes and 0 pixels.")
        }
    }
}
