/// The size of a picture in pixels. Both sides are at least 1.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int

    /// A size known when the code is written.
    ///
    /// - Precondition: Both sides are at least 1. Sizes read from files go through ``init(exactly:_:)``.
    public init(width: Int, height: Int) {
        precondition(width >= 1 && height >= 1, "A picture has at least one pixel on each side")
        self.width = width
        self.height = height
    }

    /// A size read from somewhere: `nil` unless both sides are at least 1.
    public init?(exactly width: Int, _ height: Int) {
        guard width >= 1, height >= 1 else { return nil }
        self.init(width: width, height: height)
    }

    /// The number of pixels; `Int.max` where the product does not fit in an `Int`.
    public var pixelCount: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// The same size lying on its other side.
    public var swapped: PixelSize { PixelSize(width: height, height: width) }

    /// Width and height as people write them, `4000×3000`.
    public var description: String { "\(width)×\(height)" }

    /// The largest size of the same aspect that fits into `box` and does not enlarge.
    ///
    /// The longer side is exact and the shorter one rounded to the nearest pixel, but never to none: 1×5000 in
    /// 1024×1024 becomes 1×1024.
    public func fitted(into box: PixelSize) -> PixelSize {
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        guard scale < 1 else { return self }
        func scaled(_ side: Int, limit: Int) -> Int {
            min(limit, max(1, Int((Double(side) * scale).rounded())))
        }
        return PixelSize(width: scaled(width, limit: box.width), height: scaled(height, limit: box.height))
    }
}
