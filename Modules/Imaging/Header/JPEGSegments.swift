import Foundation

/// The marker segments of a JPEG from its start up to the first scan (ITU-T T.81, B.1.1).
///
/// They hold size, orientation and colour profile. The iteration is lazy, and as tolerant as decoders are: it skips
/// fill bytes and stray bytes between segments, and ends at the end of the file.
struct JPEGSegments: Sequence {
    static let startOfImage: [UInt8] = [0xFF, 0xD8]

    private let file: ByteView

    /// Returns `nil` if the bytes do not start as a JPEG does.
    init?(_ file: ByteView) {
        guard file.holds(Self.startOfImage), file[2] == 0xFF else { return nil }
        self.file = file
    }

    func makeIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: IteratorProtocol {
        let file: ByteView
        private var offset = JPEGSegments.startOfImage.count
        private var ended = false

        init(file: ByteView) { self.file = file }

        mutating func next() -> JPEGSegment? {
            while !ended, let lead = file[offset], let code = file[offset + 1] {
                let marker = JPEGMarker(rawValue: code)
                if lead != 0xFF || code == 0xFF || marker.standsAlone {
                    offset += lead == 0xFF && code != 0xFF ? 2 : 1
                    continue
                }
                guard marker != .endOfImage, let length = file.uint16(at: offset + 2).map(Int.init), length >= 2,
                    let payload = file.slice(at: offset + 4, count: length - 2)
                else { break }
                defer { offset += 2 + length }
                ended = marker == .startOfScan
                return JPEGSegment(marker: marker, offset: offset, payload: payload)
            }
            ended = true
            return nil
        }
    }
}

/// One segment: marker, two bytes of length, payload.
struct JPEGSegment {
    let marker: JPEGMarker
    /// The offset of its marker in the file.
    let offset: Int
    let payload: ByteView

    /// The number of its bytes in the file, with the marker.
    var count: Int { payload.count + 4 }

    static let exifSignature = Array("Exif\0\0".utf8)
    static let profileSignature = Array("ICC_PROFILE\0".utf8)

    /// The TIFF structure of an Exif segment.
    var exif: ByteView? {
        guard marker == .app1, payload.holds(Self.exifSignature) else { return nil }
        return payload.slice(at: Self.exifSignature.count, count: payload.count - Self.exifSignature.count)
    }

    /// Width and height of a frame header (T.81, B.2.2); either may be 0 in a damaged file.
    var frameSize: (width: Int, height: Int)? {
        guard marker.startsFrame, let height = payload.uint16(at: 1), let width = payload.uint16(at: 3) else {
            return nil
        }
        return (Int(width), Int(height))
    }

    /// The bytes of a segment; `nil` if the payload is too long for one.
    static func bytes(_ marker: JPEGMarker, payload: some Collection<UInt8>) -> Data? {
        guard let length = UInt16(exactly: payload.count + 2) else { return nil }
        return Data([0xFF, marker.rawValue, UInt8(length >> 8), UInt8(length & 0xFF)]) + payload
    }
}

/// The second byte of a marker (T.81, table B.1).
struct JPEGMarker: RawRepresentable, Equatable {
    let rawValue: UInt8

    static let endOfImage = JPEGMarker(rawValue: 0xD9)
    static let startOfScan = JPEGMarker(rawValue: 0xDA)
    static let app0 = JPEGMarker(rawValue: 0xE0)
    static let app1 = JPEGMarker(rawValue: 0xE1)
    static let app2 = JPEGMarker(rawValue: 0xE2)
    static let app14 = JPEGMarker(rawValue: 0xEE)
    static let app15 = JPEGMarker(rawValue: 0xEF)
    static let comment = JPEGMarker(rawValue: 0xFE)

    /// Markers without a length: stuffed zeros, TEM, restarts, a second start of image.
    var standsAlone: Bool { rawValue <= 0x01 || (0xD0...0xD8).contains(rawValue) }

    /// SOF0 to SOF15, without DHT, JPG and DAC, whose codes are in the same range.
    var startsFrame: Bool { (0xC0...0xCF).contains(rawValue) && ![0xC4, 0xC8, 0xCC].contains(rawValue) }

    /// An application segment or a comment, which decoders mostly do not need.
    var isMetadata: Bool { (Self.app0.rawValue...Self.app15.rawValue).contains(rawValue) || self == .comment }
}

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
