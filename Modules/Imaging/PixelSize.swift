/// The size of a picture in pixels. Both sides are at least 1.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int

    /// Creates a size from constants.
    ///
    /// - Precondition: Both sides are at least 1. For sizes read from files, use ``init(exactly:_:)``.
    public init(width: Int, height: Int) {
        precondition(width >= 1 && height >= 1, "A picture has at least one pixel on each side")
        self.width = width
        self.height = height
    }

    /// Creates a size from input; `nil` unless both sides are at least 1.
    public init?(exactly width: Int, _ height: Int) {
        guard width >= 1, height >= 1 else { return nil }
        self.init(width: width, height: height)
    }

    /// The number of pixels; `Int.max` where the product does not fit in an `Int`.
    public var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// Width and height, such as `4000×3000`.
    public var description: String { "\(width)×\(height)" }

    /// The largest size of the same aspect ratio that fits into `box` and does not enlarge.
    ///
    /// The longer side is exact, and the shorter one is rounded to the nearest pixel, at least 1: 1×5000 in 1024×1024
    /// becomes 1×1024.
    package func fitted(into box: PixelSize) -> PixelSize {
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        guard scale < 1 else { return self }
        func scaled(_ side: Int, limit: Int) -> Int { min(limit, max(1, Int((Double(side) * scale).rounded()))) }
        return PixelSize(width: scaled(width, limit: box.width), height: scaled(height, limit: box.height))
    }
}
