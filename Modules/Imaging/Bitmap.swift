public import Foundation

/// A decoded picture: 8-bit red, green and blue, row by row from the top left, without padding and without alpha.
public struct Bitmap: Sendable, Equatable {
    /// Width and height.
    public internal(set) var size: PixelSize
    /// Three bytes a pixel, `size.pixelCount * 3` in all.
    public internal(set) var pixels: [UInt8]
    /// The ICC profile of the colours; `nil` means sRGB.
    ///
    /// A codec that does not convert colours sets the source's profile: without it, a photo in Display P3 turns pale.
    public var colorProfile: Data?

    /// Creates a picture from its bytes; `nil` unless there are exactly three for every pixel.
    public init?(size: PixelSize, pixels: [UInt8], colorProfile: Data? = nil) {
        let (expected, overflow) = size.pixelCount.multipliedReportingOverflow(by: 3)
        guard !overflow, pixels.count == expected else { return nil }
        self.init(size: size, filled: pixels, colorProfile: colorProfile)
    }

    /// Creates a picture from as many bytes as it needs.
    init(size: PixelSize, filled pixels: [UInt8], colorProfile: Data?) {
        assert(pixels.count == size.pixelCount * 3)
        self.size = size
        self.pixels = pixels
        self.colorProfile = colorProfile
    }
}
