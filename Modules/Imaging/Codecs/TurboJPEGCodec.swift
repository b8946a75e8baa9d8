#if TurboJPEG && os(Linux)
import CTurboJPEG
package import Foundation

/// The codec for Linux, under the package trait `TurboJPEG`: JPEG with libjpeg-turbo, and PNG with libpng.
///
/// It decodes a JPEG at a quarter or half of its size, where that covers one and a half times the needed size, so that
/// a photo of 12 megapixels for 1024 pixels takes 9 MB and not 36, and fitting it takes 70 ms of processor time and not
/// 91 (23 % less), and reduces a PNG while it reads the rows. One and a half times, because a scale leaves out
/// frequencies that the mean of an area has: the picture is then within 46 dB of the exact mean. Other scales of the
/// library take longer than the whole picture, or have pixels that lie worse. The colour profile of an RGB picture is
/// kept, whether the file is JPEG or PNG. Without one, a PNG is converted to sRGB by its gamma. Grayscale and CMYK
/// become sRGB without their profiles.
///
/// A file whose decoding would take memory or time out of proportion to its bytes is refused: a JPEG with too few bytes
/// for its pixels, with more than 100 scans or 2³⁰ pixels in all scans, or a progressive one that would take more than
/// 128 MB and more than 64 times its own bytes.
///
/// The codec has no state, and several threads can use it concurrently.
package struct TurboJPEGCodec: ImageCodec {
    package init() {}

    package func inspect(_ data: Data) throws(ImagingError) -> ImageHeader { try ImageHeader(parsing: data) }

    /// Decodes a JPEG at a scale that covers one and a half times the size, or a PNG at the size.
    package func decode(_ data: Data, covering size: PixelSize) throws(ImagingError) -> Bitmap {
        guard let structure = JPEGStructure(ByteView(data)) else {
            return try PNGReader.decode(data, header: ImageHeader(parsing: data), covering: size)
        }
        let header = try ImageHeader(structure)
        if let disproportion = structure.disproportion {
            throw ImagingError(
                .decodingFailed, "The JPEG \(disproportion): choose another file.", sourceSize: header.size)
        }
        return try decode(data, structure, header, covering: size)
    }

    /// Writes a baseline JPEG with 4:2:0 chroma, the colour profile included. A side of more than 65,500 pixels fails.
    package func encodeJPEG(_ bitmap: Bitmap, quality: Double) throws(ImagingError) -> Data {
        let encoder = try TurboJPEGHandle(tjInitCompress(), .encodingFailed)
        // The library allocates the result. It is freed in every case.
        var output: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(output) }
        let status = tjCompress2(
            encoder.pointer, bitmap.pixels, Int32(clamping: bitmap.size.width), 0,
            Int32(clamping: bitmap.size.height), Int32(TJPF_RGB.rawValue), &output, &count,
            Int32(TJSAMP_420.rawValue), Int32(min(max(quality, 0.01), 1) * 100 + 0.5), 0)
        guard status == 0, let output else { throw encoder.failure() }
        let jpeg = Data(bytes: output, count: Int(count))
        return bitmap.colorProfile.map { JPEGMetadata.adding(colorProfile: $0, to: jpeg) } ?? jpeg
    }

    /// The size at which a JPEG is decoded.
    package static func scaled(_ size: PixelSize, covering needed: PixelSize) -> PixelSize {
        for divisor in [4, 2] {
            let (width, height) = ((size.width + divisor - 1) / divisor, (size.height + divisor - 1) / divisor)
            if width * 2 >= needed.width * 3, height * 2 >= needed.height * 3 {
                return PixelSize(width: width, height: height)
            }
        }
        return size
    }

    private func decode(
        _ data: Data, _ structure: JPEGStructure, _ header: ImageHeader, covering needed: PixelSize
    ) throws(ImagingError) -> Bitmap {
        let decoder = try TurboJPEGHandle(tjInitDecompress(), .decodingFailed)
        return try data.bytes.withUnsafeBytes { raw throws(ImagingError) in
            let bytes = raw.bindMemory(to: UInt8.self)
            let inks = try usesInks(bytes, decoder: decoder, header: header)
            let size = Self.scaled(header.size, covering: needed)
            var status: Int32 = 0
            let pixels = [UInt8](unsafeUninitializedCapacity: size.pixelCount * (inks ? 4 : 3)) { buffer, count in
                // A failing decoder may leave rows unwritten. They must not show old memory.
                buffer.initialize(repeating: 0)
                count = buffer.count
                status = tjDecompress2(
                    decoder.pointer, bytes.baseAddress, UInt(bytes.count), buffer.baseAddress, Int32(size.width), 0,
                    Int32(size.height), Int32((inks ? TJPF_CMYK : TJPF_RGB).rawValue), TJFLAG_LIMITSCANS)
            }
            // Warnings are for flaws that every viewer accepts, such as stray bytes before a marker.
            guard status == 0 || tjGetErrorCode(decoder.pointer) == Int32(TJERR_WARNING.rawValue) else {
                throw decoder.failure(header.size)
            }
            guard inks else { return Bitmap(size: size, filled: pixels, colorProfile: structure.colorProfile) }
            let converted = Self.rgb(ofInks: pixels, areInverted: structure.isAdobe)
            return Bitmap(size: size, filled: converted, colorProfile: nil)
        }
    }

    /// Converts CMYK to RGB without a colour profile: four samples for each pixel to three. Inverted, 255 means no ink:
    /// Adobe's programs store it so and add a segment to the file, and other encoders that add the segment do the same.
    private static func rgb(ofInks inks: [UInt8], areInverted: Bool) -> [UInt8] {
        func light(_ ink: UInt8) -> Int { areInverted ? Int(ink) : 255 - Int(ink) }
        return [UInt8](unsafeUninitializedCapacity: inks.count / 4 * 3) { buffer, count in
            count = inks.count / 4 * 3
            inks.withUnsafeBufferPointer { inks in
                for pixel in 0..<inks.count / 4 {
                    let black = light(inks[pixel * 4 + 3])
                    for channel in 0..<3 {
                        buffer[pixel * 3 + channel] = UInt8((light(inks[pixel * 4 + channel]) * black + 127) / 255)
                    }
                }
            }
        }
    }

    /// Whether the JPEG has four components (CMYK or YCCK), which the library does not turn into RGB.
    private func usesInks(
        _ bytes: UnsafeBufferPointer<UInt8>, decoder: TurboJPEGHandle, header: ImageHeader
    ) throws(ImagingError) -> Bool {
        var (width, height, subsampling, colorspace): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let status = tjDecompressHeader3(
            decoder.pointer, bytes.baseAddress, UInt(bytes.count), &width, &height, &subsampling, &colorspace)
        guard status == 0 else { throw decoder.failure(header.size) }
        // The limits were checked with this module's parser. A file that the library reads differently could evade
        // them.
        guard header.size == PixelSize(exactly: Int(width), Int(height)) else {
            throw ImagingError(.decodingFailed, "The JPEG has two different sizes: choose another file.")
        }
        return [TJCS_CMYK.rawValue, TJCS_YCCK.rawValue].contains(UInt32(bitPattern: colorspace))
    }
}

/// A compressor or decompressor of the library, destroyed with its last reference.
private final class TurboJPEGHandle {
    let pointer: tjhandle
    private let code: ImagingError.Code

    init(_ pointer: tjhandle?, _ code: ImagingError.Code) throws(ImagingError) {
        guard let pointer else { throw ImagingError(code, "libturbojpeg has no memory left: try again later.") }
        self.pointer = pointer
        self.code = code
    }

    deinit { tjDestroy(pointer) }

    /// The library's last error.
    func failure(_ sourceSize: PixelSize? = nil) -> ImagingError {
        let reason = tjGetErrorStr2(pointer).map { String(cString: $0) } ?? "unknown reason"
        return ImagingError(code, "libturbojpeg failed (\(reason)): choose another picture.", sourceSize: sourceSize)
    }
}
#endif
