import Foundation

/// The marker segments of a JPEG from its start to its end marker (ITU-T T.81, B.1.1), scans included.
///
/// The iteration is lazy, and as tolerant as decoders are: it skips fill bytes and stray bytes between segments, and
/// ends at the end of the file.
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
        /// Where the next segment is searched. After the last one, the offset behind it, or behind the end marker.
        private(set) var offset = JPEGSegments.startOfImage.count
        /// Whether the end marker was reached.
        private(set) var isComplete = false
        private var isDamaged = false

        init(file: ByteView) { self.file = file }

        mutating func next() -> JPEGSegment? {
            guard !isComplete, !isDamaged, let start = file.offsetOfMarker(from: offset),
                let marker = file[start + 1].map(JPEGMarker.init(rawValue:))
            else { return nil }
            if marker == .endOfImage {
                isComplete = true
                offset = start + 2
                return nil
            }
            guard let length = file.uint16(at: start + 2).map(Int.init), length >= 2,
                let payload = file.slice(at: start + 4, count: length - 2)
            else {
                isDamaged = true
                return nil
            }
            offset = start + 2 + length
            return JPEGSegment(marker: marker, offset: start, payload: payload)
        }
    }
}

extension ByteView {
    /// The offset of the next marker that has a segment, or that ends the image. Coded data contains none: there, 0xFF
    /// is followed by a stuffed zero or is a restart marker.
    fileprivate func offsetOfMarker(from offset: Int) -> Int? {
        bytes.withUnsafeBytes { raw -> Int? in
            guard let base = raw.baseAddress else { return nil }
            var index = offset
            while index < raw.count - 1, let found = memchr(base + index, 0xFF, raw.count - 1 - index) {
                index = UnsafeRawPointer(found) - base
                let code = raw[index + 1]
                if code == 0xFF {
                    index += 1
                } else if JPEGMarker(rawValue: code).standsAlone {
                    index += 2
                } else {
                    return index
                }
            }
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

    /// Whether the segment has a part of a colour profile.
    var holdsProfile: Bool { marker == .app2 && payload.holds(Self.profileSignature) }

    /// The colour transform of Adobe's segment; `nil` in other segments.
    var isAdobe: Bool { marker == .app14 && payload.holds("Adobe".utf8) }

    /// Whether decoders need the segment for the colours.
    var decidesColors: Bool { isAdobe || holdsProfile || (marker == .app0 && payload.holds("JFIF\0".utf8)) }

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

    /// Frames that are coded in several scans: SOF2, SOF6, SOF10, SOF14.
    var isProgressive: Bool { startsFrame && rawValue & 3 == 2 }

    /// An application segment or a comment, which decoders mostly do not need.
    var isMetadata: Bool { (Self.app0.rawValue...Self.app15.rawValue).contains(rawValue) || self == .comment }
}
