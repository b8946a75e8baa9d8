import Foundation

/// Removes and adds metadata of JPEGs.
enum JPEGMetadata {
    /// The JPEG without EXIF, XMP, IPTC, comments, previews and other application segments.
    ///
    /// The segments that define the colours stay: JFIF, the colour profile, and Adobe's colour transform. Encoders add
    /// segments of their own (ImageIO adds Exif to every JPEG), so they are removed here and not by each codec.
    ///
    /// - Throws: ``ImagingError`` with `encodingFailed` if the bytes are not a JPEG with a picture.
    static func stripped(from jpeg: Data) throws(ImagingError) -> Data {
        let file = ByteView(jpeg)
        guard let segments = JPEGSegments(file) else { throw notJPEG }
        var kept = Data(JPEGSegments.startOfImage)
        for segment in segments {
            if segment.marker == .startOfScan { return kept + jpeg.dropFirst(segment.offset) }
            if !segment.marker.isMetadata || segment.decidesColors {
                kept += jpeg.dropFirst(segment.offset).prefix(segment.count)
            }
        }
        throw notJPEG
    }

    private static var notJPEG: ImagingError {
        ImagingError(.encodingFailed, "The codec did not write a JPEG: check the ImageCodec in use.")
    }

    /// The colour profile of a JPEG, if it is for RGB and in one segment (ICC.1:2022, annex B.4).
    ///
    /// Display P3, Adobe RGB and similar profiles take a few hundred bytes. Profiles in several segments are tables for
    /// printers.
    static func colorProfile(of jpeg: Data) -> Data? {
        guard let segments = JPEGSegments(ByteView(jpeg)),
            let segment = segments.first(where: \.holdsProfile)
        else { return nil }
        let start = JPEGSegment.profileSignature.count
        let payload = segment.payload
        guard payload[start] == 1, payload[start + 1] == 1,
            let profile = payload.slice(at: start + 2, count: payload.count - start - 2),
            profile.length32(at: 0) == profile.count,
            profile.holds("RGB ".utf8, at: 16), profile.holds("acsp".utf8, at: 36)
        else { return nil }
        return profile.bytes
    }

    /// The JPEG with a colour profile. It is unchanged if the profile needs more than one segment.
    static func adding(colorProfile: Data, to jpeg: Data) -> Data {
        let payload = Data(JPEGSegment.profileSignature) + [1, 1] + colorProfile
        guard let segment = JPEGSegment.bytes(.app2, payload: payload),
            let first = JPEGSegments(ByteView(jpeg))?.first(where: { _ in true })
        else { return jpeg }
        // After the JFIF segment, which must be the first.
        let position = first.marker == .app0 ? first.offset + first.count : first.offset
        return jpeg.prefix(position) + segment + jpeg.dropFirst(position)
    }
}

extension JPEGSegment {
    /// Whether the segment has the start of a colour profile.
    fileprivate var holdsProfile: Bool { marker == .app2 && payload.holds(Self.profileSignature) }

    fileprivate var decidesColors: Bool { marker == .app0 || marker == .app14 || holdsProfile }
}
