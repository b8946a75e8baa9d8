public import Foundation

extension EXIFOrientation {
    /// A JPEG with an Exif segment that says this orientation, as a camera would write it. The pixels stay as they are.
    ///
    /// The segment stands first, where Exif 2.32 (4.5.4) wants it, and takes 36 bytes; readers take the first they
    /// find, so it also outvotes one that is there already.
    ///
    /// - Throws: ``ImagingError`` with `notAnImage` where the bytes do not begin as a JPEG does.
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
