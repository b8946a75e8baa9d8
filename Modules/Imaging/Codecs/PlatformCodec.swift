/// The codec of the platform.
public enum PlatformCodec {
    /// Makes the codec: ImageIO on Apple platforms; libjpeg-turbo and libpng on Linux, with the package trait
    /// `TurboJPEG`.
    ///
    /// - Throws: ``ImagingError`` with `codecUnavailable` in other builds, which need an ``ImageCodec`` of your own.
    public static func make() throws(ImagingError) -> any ImageCodec {
        #if canImport(ImageIO)
        return ImageIOCodec()
        #elseif TurboJPEG && os(Linux)
        return TurboJPEGCodec()
        #else
        throw ImagingError(
            .codecUnavailable,
            "This build has no image codec: enable the package trait TurboJPEG (it needs libturbojpeg0-dev and "
                + "libpng-dev), or pass an ImageCodec of your own.")
        #endif
    }
}
