public import Foundation

extension EXIFOrientation {
    /// Adds an Exif segment with this orientation to a JPEG, as a camera does. The pixels do not change.
    ///
    /// The segment is the first one, as Exif 2.32 (4.5.4) demands, and has 36 bytes. Readers use the first Exif
    /// segment, so an older one has no effect.
    ///
    /// - Throws: ``ImagingError`` with `notAnImage` if the bytes do not start as a JPEG does.
    public func tagging(_ jpeg: Data) throws(ImagingError) -> Data {
        guard JPEGSegments(ByteView(jpeg)) != nil, let segment = JPEGSegment.bytes(.app1, payload: exifPayload) else {
            throw ImagingError(.notAnImage, "Only a JPEG can be tagged with an orientation: encode the picture first.")
        }
        let start = JPEGSegments.startOfImage
        return start + segment + jpeg.dropFirst(start.count)
    }

    /// A big-endian TIFF structure whose one directory has one entry: Orientation, one SHORT.
    private var exifPayload: [UInt8] {
        JPEGSegment.exifSignature + Array("MM".utf8)
            + [0, 42, 0, 0, 0, 8]
            + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(rawValue), 0, 0]
            + [0, 0, 0, 0]
    }
}
