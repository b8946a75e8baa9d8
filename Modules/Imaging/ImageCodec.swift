public import Foundation

/// Reads pictures and writes JPEGs: the seam between ``PhotoFitter``, which decides, and a library, which computes.
///
/// Implementations here: `TurboJPEGCodec` (Linux, trait `TurboJPEG`) and `ImageIOCodec` (Apple platforms). Bring your
/// own where neither is there. Implementations must stand hostile input: the bytes come from anywhere. They need not
/// deal with orientation, exact sizes or metadata, all of which ``PhotoFitter`` does itself.
public protocol ImageCodec: Sendable {
    /// Reads format, size and orientation from the header alone; must not decode pixels.
    ///
    /// ``ImageHeader/init(parsing:)`` does it for JPEG and PNG.
    ///
    /// - Throws: ``ImagingError`` with `notAnImage`, `unsupportedFormat` or `decodingFailed`.
    func inspect(_ data: Data) throws(ImagingError) -> ImageHeader

    /// Decodes the whole picture as it is stored, not turned, with transparency flattened on white.
    ///
    /// - Parameters:
    ///   - data: The file that was inspected.
    ///   - size: The size that is going to be needed, in the stored orientation. The result may have any size from
    ///     this one up to the picture's own: a codec that can decode at a reduced scale saves time and memory by it.
    /// - Returns: The picture, all of it.
    /// - Throws: ``ImagingError`` with `decodingFailed` or `unsupportedFormat`.
    func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap

    /// Writes a JPEG.
    ///
    /// - Parameters:
    ///   - bitmap: The picture. A codec that ignores its colour profile must convert to sRGB when decoding.
    ///   - quality: 0 for the smallest file to 1 for the best picture; values outside are clamped.
    /// - Returns: The file.
    /// - Throws: ``ImagingError`` with `encodingFailed`.
    func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data
}

/// The codec that comes with the platform.
public enum PlatformCodec {
    /// ImageIO on Apple platforms; libjpeg-turbo and libpng on Linux, when the package trait `TurboJPEG` is on.
    ///
    /// - Throws: ``ImagingError`` with `codecUnavailable` in a build that has neither. The module still works there
    ///   with an ``ImageCodec`` of your own.
    public static func make() throws(ImagingError) -> any ImageCodec {
        #if canImport(ImageIO)
        return ImageIOCodec()
        #elseif TurboJPEG && os(Linux)
        return TurboJPEGCodec()
        #else
        throw ImagingError(
            .codecUnavailable,
            "This build has no image codec: enable the package trait TurboJPEG (it needs libturbojpeg0-dev and "
                + "libpng-dev), or pass an ImageCodec of your own."
        )
        #endif
    }
}
