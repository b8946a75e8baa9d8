public import Foundation

/// Reads pictures and writes JPEGs for ``PhotoFitter``.
///
/// ``PlatformCodec`` makes this module's own. An implementation must be safe with hostile input. It does not handle
/// orientation, exact sizes or metadata: ``PhotoFitter`` does.
public protocol ImageCodec: Sendable {
    /// Reads format, size and orientation from the header, without decoding pixels.
    ///
    /// ``ImageHeader/init(parsing:)`` does it for JPEG and PNG.
    ///
    /// - Throws: ``ImagingError`` with `notAnImage`, `unsupportedFormat` or `decodingFailed`.
    func inspect(_ data: Data) throws(ImagingError) -> ImageHeader

    /// Decodes the whole picture as it is stored, not turned, with transparent pixels over white.
    ///
    /// - Parameters:
    ///   - data: The file.
    ///   - size: The needed size, in the stored orientation. The result may have any size from this one to the
    ///     picture's own: a codec that decodes at a reduced scale saves time and memory.
    /// - Returns: The picture.
    /// - Throws: ``ImagingError`` with `decodingFailed` or `unsupportedFormat`.
    func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap

    /// Writes a JPEG.
    ///
    /// - Parameters:
    ///   - bitmap: The picture. A codec that ignores its colour profile must convert to sRGB when decoding.
    ///   - quality: From 0 (smallest file) to 1 (best picture). Other values are clamped.
    /// - Returns: The file.
    /// - Throws: ``ImagingError`` with `encodingFailed`.
    func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data
}
