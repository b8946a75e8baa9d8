import Foundation

/// What may stand in a finished JPEG beside the picture.
enum JPEGMetadata {
    /// The JPEG without EXIF, XMP, IPTC, comments, previews and whatever else travels in application segments.
    ///
    /// Only what decides how the pixels look stays: JFIF, the colour profile, and Adobe's mark for the colour
    /// transform. Encoders differ in what they write unasked (ImageIO adds an Exif segment to every JPEG), so the
    /// promise is kept here and not by each of them.
    ///
    /// - Throws: ``ImagingError`` with `encodingFailed` where the bytes are not a JPEG with a picture in it.
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

    /// The colour profile of a JPEG, if it is one of an RGB space and stands in one segment (ICC.1:2022, annex B.4).
    ///
    /// Display P3, Adobe RGB and their like take a few hundred bytes; profiles that need several segments are tables
    /// for printers.
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

    /// The JPEG with a colour profile right after its start; unchanged where the profile takes more than one segment.
    static func adding(colorProfile: Data, to jpeg: Data) -> Data {
        let payload = Data(JPEGSegment.profileSignature) + [1, 1] + colorProfile
        guard let segment = JPEGSegment.bytes(.app2, payload: payload),
            let first = JPEGSegments(ByteView(jpeg))?.first(where: { _ in true })
        else { return jpeg }
        // After JFIF's segment, which by its own standard comes first.
        let position = first.marker == .app0 ? first.offset + first.count : first.offset
        return jpeg.prefix(position) + segment + jpeg.dropFirst(position)
    }
}

extension JPEGSegment {
    /// A segment that begins a colour profile.
    fileprivate var holdsProfile: Bool { marker == .app2 && payload.holds(Self.profileSignature) }

    fileprivate var decidesColors: Bool { marker == .app0 || marker == .app14 || holdsProfile }
}
