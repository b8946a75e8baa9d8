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
    public let policy: FittingPolicy

    /// Creates a fitter with the codec of the platform, from ``PlatformCodec/make()``, or with your own.
    public init(codec: any ImageCodec, policy: FittingPolicy = FittingPolicy()) {
        self.codec = codec
        self.policy = policy
    }

    /// Fits a photo into the policy.
    ///
    /// The picture is reduced, never enlarged, and keeps its aspect ratio. Then the qualities are tried until one fits.
    /// The result has pixels and, where needed, a colour profile. All other metadata (EXIF with its GPS position, XMP,
    /// IPTC, comments, embedded previews) is removed, also what the codec adds.
    ///
    /// The work runs on the calling thread, tens of milliseconds for a photo of 12 megapixels: call it off the main
    /// actor. It cannot be cancelled.
    ///
    /// - Throws: ``ImagingError`` with `sourceTooLarge` and `tooManyPixels` before anything is decoded; `notAnImage`,
    ///   `unsupportedFormat` and `decodingFailed` for files that the codec cannot read; `cannotFit` with the smallest
    ///   size reached in ``ImagingError/bytes``; `invalidPolicy`; `encodingFailed`.
    /// - Complexity: O(pixels of the source), plus one encoding for each quality tried.
    public func fit(_ data: Data) throws(ImagingError) -> FittedPhoto {
        try policy.validate()
        let bitmap = try reduced(data)
        var smallest = Int.max
        for quality in policy.qualities {
            let jpeg = try JPEGMetadata.stripped(from: codec.encodeJPEG(bitmap, quality: quality))
            if jpeg.count <= policy.maximumBytes {
                return FittedPhoto(jpeg: jpeg, size: bitmap.size, quality: quality)
            }
            smallest = min(smallest, jpeg.count)
        }
        throw ImagingError(
            .cannotFit,
            "At \(bitmap.size) pixels the photo has \(smallest) bytes, and \(policy.maximumBytes) are allowed: "
                + "allow more bytes, fewer pixels or a lower quality.",
            bytes: smallest
        )
    }

    /// The upright picture at its final size.
    private func reduced(_ data: Data) throws(ImagingError) -> Bitmap {
        guard data.count <= policy.maximumSourceBytes else {
            throw ImagingError(
                .sourceTooLarge,
                "The file has \(data.count) bytes, and \(policy.maximumSourceBytes) are allowed: choose a smaller one.",
                bytes: data.count
            )
        }
        let header = try codec.inspect(data)
        guard header.size.pixelCount <= policy.maximumSourcePixels else {
            throw ImagingError(
                .tooManyPixels,
                "The picture has \(header.size) pixels, and \(policy.maximumSourcePixels) are allowed: "
                    + "choose a smaller one.",
                sourceSize: header.size
            )
        }
        // The maximum size applies to the upright picture. The pixels are turned last, when they are fewest.
        let upright = header.size.oriented(by: header.orientation).fitted(into: policy.maximumSize)
        let stored = upright.oriented(by: header.orientation)
        return try codec.decode(data, covering: stored).resized(to: stored).oriented(by: header.orientation)
    }
}
