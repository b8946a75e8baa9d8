public import Foundation

/// Prepares a photo for upload: upright, within the limits of pixels and bytes, and without metadata such as its place.
///
/// ```swift
/// let fitter = PhotoFitter(codec: try PlatformCodec.make())
/// let photo = try fitter.fit(Data(contentsOf: file))
/// ```
public struct PhotoFitter: Sendable {
    /// The codec that reads and writes pictures.
    public let codec: any ImageCodec
    /// The limits of a photo.
    package let policy: FittingPolicy

    /// Creates a fitter with the codec of the platform, from ``PlatformCodec/make()``, or with your own.
    public init(codec: any ImageCodec, policy: FittingPolicy = FittingPolicy()) {
        self.codec = codec
        self.policy = policy
    }

    /// Fits a photo into the policy.
    ///
    /// The picture is reduced, never enlarged, and keeps its aspect ratio. Then the qualities are tried until one fits,
    /// and after the last one smaller sizes, each with all qualities.
    /// The result has pixels and, where needed, a colour profile. All other metadata (EXIF with its GPS position, XMP,
    /// IPTC, comments, embedded previews, bytes after the picture) is removed, including what the codec adds.
    ///
    /// The work runs on the calling thread, tens of milliseconds for a photo of 12 megapixels, at most 15 % more than
    /// the codec alone takes: call it off the main actor. It cannot be cancelled.
    ///
    /// - Throws: ``ImagingError`` with `sourceTooLarge` and `tooManyPixels` before anything is decoded; `notAnImage`,
    ///   `unsupportedFormat` and `decodingFailed` for files that the codec cannot read; `cannotFit` with the smallest
    ///   size reached in ``ImagingError/bytes``; `invalidPolicy`; `encodingFailed`.
    /// - Complexity: O(pixels of the source), plus one encoding for each quality tried.
    public func fit(_ data: Data) throws(ImagingError) -> FittedPhoto {
        try policy.validate()
        let reduced = try reduced(data)
        var bitmap = reduced
        var smallest = Int.max
        while true {
            for quality in policy.qualities {
                let jpeg = try JPEGMetadata.stripped(from: codec.encodeJPEG(bitmap, quality: quality))
                if jpeg.count <= policy.maximumBytes {
                    return FittedPhoto(jpeg: jpeg, size: bitmap.size, quality: quality)
                }
                smallest = min(smallest, jpeg.count)
            }
            guard let size = policy.size(below: bitmap.size, bytes: smallest) else { break }
            bitmap = reduced.resized(to: size)
        }
        throw ImagingError(
            .cannotFit,
            "At \(bitmap.size) pixels the photo has \(smallest) bytes, and \(policy.maximumBytes) are allowed: "
                + "allow more bytes, a smaller size or a lower quality.",
            bytes: smallest)
    }

    /// The upright picture at its final size.
    private func reduced(_ data: Data) throws(ImagingError) -> Bitmap {
        guard data.count <= policy.maximumSourceBytes else {
            throw ImagingError(
                .sourceTooLarge,
                "The file has \(data.count) bytes, and \(policy.maximumSourceBytes) are allowed: choose a smaller one.",
                bytes: data.count)
        }
        let header = try codec.inspect(data)
        guard header.size.pixelCount <= policy.maximumSourcePixels else {
            throw ImagingError(
                .tooManyPixels,
                "The picture has \(header.size) pixels, and \(policy.maximumSourcePixels) are allowed: "
                    + "choose a smaller one.",
                sourceSize: header.size)
        }
        // The maximum size applies to the upright picture. The pixels are turned last, when they are fewest.
        let upright = header.size.oriented(by: header.orientation).fitted(into: policy.maximumSize)
        let stored = upright.oriented(by: header.orientation)
        return try codec.decode(data, covering: stored).resized(to: stored).oriented(by: header.orientation)
    }
}

/// An upright JPEG without metadata, within the limits of a policy.
public struct FittedPhoto: Sendable, Hashable {
    /// The file.
    public let jpeg: Data
    /// The picture's size in pixels.
    public let size: PixelSize
    /// The quality of the JPEG, one of ``FittingPolicy/qualities``.
    public let quality: Double
}

/// The limits of an uploaded photo, and the JPEG qualities to try. Every default is the service's own limit.
public struct FittingPolicy: Sendable, Hashable {
    /// The maximum size of the upright picture, in pixels.
    public var maximumSize = PixelSize(width: 1024, height: 1024)
    /// The maximum size of the JPEG, in bytes: 5 × 1024 × 1024.
    public var maximumBytes = 5 * 1024 * 1024
    /// The JPEG qualities to try, in this order, from 0 (worst) to 1 (best). The first that fits is used.
    public var qualities = stride(from: 8, through: 1, by: -1).map { Double($0) / 10 }
    /// The photo's longer side is not reduced below this, in pixels, to meet ``maximumBytes``. The default is 64.
    public var minimumLongerSide = 64
    /// The maximum number of pixels in a source's header. It bounds the time: a PNG of some hundred kilobytes can hold
    /// 100 megapixels, which take a second or two to decode.
    public var maximumSourcePixels = 100_000_000
    /// The maximum size of a source file, in bytes.
    public var maximumSourceBytes = 64 * 1024 * 1024

    /// Creates a policy with the service's limits.
    public init() {}

    /// Throws for limits that no picture can meet.
    func validate() throws(ImagingError) {
        guard !qualities.isEmpty, qualities.allSatisfy((0...1).contains) else {
            throw ImagingError(.invalidPolicy, "Give the policy at least one quality, each between 0 and 1.")
        }
        guard maximumBytes > 0, maximumSourcePixels > 0, maximumSourceBytes > 0, minimumLongerSide > 0 else {
            throw ImagingError(.invalidPolicy, "Give the policy limits above 0 bytes and 0 pixels.")
        }
    }

    /// The next size to try after one whose smallest JPEG has too many bytes; `nil` at the minimum.
    ///
    /// The bytes of a JPEG are roughly proportional to its pixels. A step is at least a tenth, so that the tries end.
    func size(below size: PixelSize, bytes: Int) -> PixelSize? {
        let longer = max(size.width, size.height)
        guard longer > minimumLongerSide else { return nil }
        let scale = min(max((Double(maximumBytes) / Double(bytes)).squareRoot(), 0.5), 0.9)
        let side = max(minimumLongerSide, Int(Double(longer) * scale))
        return size.fitted(into: PixelSize(width: side, height: side))
    }
}
