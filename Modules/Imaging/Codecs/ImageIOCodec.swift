#if canImport(ImageIO)
import CoreGraphics
package import Foundation
import ImageIO

/// The codec of Apple platforms: JPEG, PNG and every other format that ImageIO reads, HEIC included.
///
/// It converts colours to sRGB. It has no state, and several threads can use it concurrently.
package struct ImageIOCodec: ImageCodec {
    package init() {}

    /// Reads JPEG and PNG headers as on every platform, and other formats with ImageIO.
    package func inspect(_ data: Data) throws(ImagingError) -> ImageHeader {
        do {
            return try ImageHeader(parsing: data)
        } catch {
            guard error.code == .unsupportedFormat, let header = systemHeader(of: data) else { throw error }
            return header
        }
    }

    /// Decodes a picture at the needed size or a little above. ImageIO reduces while it decodes.
    package func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap {
        let options: [CFString: Any] = [
            kCGImageSourceCreateThumbnailFromImageAlways: true,
            kCGImageSourceCreateThumbnailWithTransform: false,
            kCGImageSourceThumbnailMaxPixelSize: max(size.width, size.height),
        ]
        guard let source = CGImageSourceCreateWithData(data as CFData, nil),
            let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary),
            let bitmap = drawn(image)
        else {
            throw ImagingError(.decodingFailed, "ImageIO cannot decode the picture: choose another.")
        }
        return bitmap
    }

    package func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data {
        let output = NSMutableData()
        let options: [CFString: Any] = [kCGImageDestinationLossyCompressionQuality: min(max(quality, 0), 1)]
        guard let image = image(of: bitmap),
            let destination = CGImageDestinationCreateWithData(
                output as CFMutableData, "public.jpeg" as CFString, 1, nil)
        else {
            throw ImagingError(.encodingFailed, "ImageIO cannot encode the picture: make it smaller.")
        }
        CGImageDestinationAddImage(destination, image, options as CFDictionary)
        guard CGImageDestinationFinalize(destination) else {
            throw ImagingError(.encodingFailed, "ImageIO could not write the JPEG: make the picture smaller.")
        }
        return Data(referencing: output)
    }

    private func systemHeader(of data: Data) -> ImageHeader? {
        guard let source = CGImageSourceCreateWithData(data as CFData, nil),
            let type = CGImageSourceGetType(source),
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
            let width = properties[kCGImagePropertyPixelWidth] as? Int,
            let height = properties[kCGImagePropertyPixelHeight] as? Int,
            let size = PixelSize(exactly: width, height)
        else { return nil }
        let orientation = (properties[kCGImagePropertyOrientation] as? Int).flatMap(EXIFOrientation.init(rawValue:))
        return ImageHeader(format: ImageFormat(rawValue: type as String), size: size, orientation: orientation ?? .up)
    }

    /// The picture over white, in sRGB. Core Graphics draws into four bytes a pixel; the fourth is dropped.
    private func drawn(_ image: CGImage) -> Bitmap? {
        guard let size = PixelSize(exactly: image.width, image.height),
            let space = CGColorSpace(name: CGColorSpace.sRGB),
            let context = CGContext(
                data: nil, width: size.width, height: size.height, bitsPerComponent: 8, bytesPerRow: size.width * 4,
                space: space, bitmapInfo: CGImageAlphaInfo.noneSkipLast.rawValue)
        else { return nil }
        let frame = CGRect(x: 0, y: 0, width: size.width, height: size.height)
        context.setFillColor(red: 1, green: 1, blue: 1, alpha: 1)
        context.fill(frame)
        context.draw(image, in: frame)
        guard let drawn = context.data else { return nil }
        let samples = UnsafeRawBufferPointer(start: drawn, count: size.pixelCount * 4)
        let pixels = [UInt8](unsafeUninitializedCapacity: size.pixelCount * 3) { buffer, count in
            count = size.pixelCount * 3
            for index in 0..<count { buffer[index] = samples[index / 3 * 4 + index % 3] }
        }
        return Bitmap(size: size, filled: pixels, colorProfile: nil)
    }

    private func image(of bitmap: Bitmap) -> CGImage? {
        let profile = bitmap.colorProfile.flatMap { CGColorSpace(iccData: $0 as CFData) }
        guard let provider = CGDataProvider(data: Data(bitmap.pixels) as CFData),
            let space = profile ?? CGColorSpace(name: CGColorSpace.sRGB)
        else { return nil }
        return CGImage(
            width: bitmap.size.width, height: bitmap.size.height, bitsPerComponent: 8, bitsPerPixel: 24,
            bytesPerRow: bitmap.size.width * 3, space: space,
            bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.none.rawValue), provider: provider, decode: nil,
            shouldInterpolate: false, intent: .defaultIntent)
    }
}
#endif
