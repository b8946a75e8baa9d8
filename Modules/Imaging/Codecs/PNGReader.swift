#if TurboJPEG && os(Linux)
import CPNG
import Foundation

/// Decodes PNG of every kind (palette, grayscale, 16 bits, transparent, interlaced) to 8-bit RGB with libpng's
/// simplified API. It has no reduced scales: the whole picture is in memory.
enum PNGReader {
    static func decode(_ data: Data, header: ImageHeader) throws(ImagingError) -> Bitmap {
        try data.withBytes { bytes throws(ImagingError) in
            var image = png_image()
            image.version = png_uint_32(PNG_IMAGE_VERSION)
            defer { png_image_free(&image) }
            guard png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0 else {
                throw failure(image, header)
            }
            guard header.size == PixelSize(exactly: Int(image.width), Int(image.height)),
                let rowBytes = Int32(exactly: header.size.width * 3)
            else {
                throw ImagingError(.decodingFailed, "The PNG has two different sizes: choose another file.")
            }
            image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
            // Without it, libpng reads 16-bit samples without a gamma as linear light.
            image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
            var white = png_color(red: 255, green: 255, blue: 255)
            var failed = false
            let pixels = [UInt8](unsafeUninitializedCapacity: header.size.pixelCount * 3) { buffer, count in
                buffer.initialize(repeating: 255)
                count = buffer.count
                failed = png_image_finish_read(&image, &white, buffer.baseAddress, rowBytes, nil) == 0
            }
            guard !failed else { throw failure(image, header) }
            return Bitmap(size: header.size, filled: pixels, colorProfile: nil)
        }
    }

    private static func failure(_ image: png_image, _ header: ImageHeader) -> ImagingError {
        let reason = withUnsafeBytes(of: image.message) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        return ImagingError(
            .decodingFailed, "libpng cannot decode the picture (\(reason)): choose another picture.",
            sourceSize: header.size
        )
    }
}
#endif
