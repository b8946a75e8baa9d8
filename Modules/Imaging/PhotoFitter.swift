public import Foundation

/// A photo that meets the policy: an upright JPEG without metadata.
public struct FittedPhoto: Sendable, Hashable {
    /// The finished file.
    public let jpeg: Data
    /// The picture's size in pixels.
    public let size: PixelSize
    /// The quality it was written at, one of ``FittingPolicy/qualities``.
    public let quality: Double
}

/// Makes any photo fit for upload: upright, small enough in pixels and bytes, and silent about where it was taken.
///
/// ```swift
/// let fitter = PhotoFitter(codec: try PlatformCodec.make())
/// let photo = try fitter.fit(Data(contentsOf: file))
/// ```
public struct PhotoFitter: Sendable {
    /// What reads and writes pictures.
    public let codec: any ImageCodec
    /// What a photo may be at most.
    public let policy: FittingPolicy

    /// A fitter over a codec: the platform's from ``PlatformCodec/make()``, or your own.
    public init(codec: any ImageCodec, policy: FittingPolicy = FittingPolicy()) {
        self.codec = codec
        self.policy = policy
    }

    /// Fits a photo into the policy.
    ///
    /// The picture is reduced, never enlarged, and its aspect kept; then the qualities are tried until one fits. The
    /// result holds pixels and, where needed, a colour profile. All other metadata (EXIF with its GPS position, XMP,
    /// IPTC, comments, embedded previews) is left out, whatever the codec writes.
    ///
    /// The work is done on the calling thread, tens of milliseconds for a photo of 12 megapixels: call it off the main
    /// actor. It cannot be cancelled half-way.
    ///
    /// - Throws: ``ImagingError`` with `sourceTooLarge` and `tooManyPixels` before anything is decoded; `notAnImage`,
    ///   `unsupportedFormat` and `decodingFailed` for what the codec cannot read; `cannotFit` with the smallest size
    ///   reached in ``ImagingError/bytes``; `invalidPolicy`; `encodingFailed`.
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
            "At \(bitmap.size) pixels the photo still takes \(smallest) bytes of \(policy.maximumBytes) allowed: "
                + "allow more bytes, fewer pixels or a lower quality.",
            bytes: smallest
        )
    }

    /// The upright picture at its final size.
    private func reduced(_ data: Data) throws(ImagingError) -> Bitmap {
        guard data.count <= policy.maximumSourceBytes else {
            throw ImagingError(
                .sourceTooLarge,
                "The file has \(data.count) bytes of \(policy.maximumSourceBytes) allowed: choose a smaller one.",
                bytes: data.count
            )
        }
        let header = try codec.inspect(data)
        guard header.size.pixelCount <= policy.maximumSourcePixels else {
            throw ImagingError(
                .tooManyPixels,
                "The picture claims \(header.size) pixels, more than the \(policy.maximumSourcePixels) allowed: "
                    + "choose a smaller one.",
                sourceSize: header.size
            )
        }
        // The box applies to the upright picture; the pixels are turned last, when they are fewest.
        let upright = header.size.oriented(by: header.orientation).fitted(into: policy.maximumSize)
        let stored = upright.oriented(by: header.orientation)
        return try codec.decode(data, covering: stored).resized(to: stored).oriented(by: header.orientation)
    }
}
