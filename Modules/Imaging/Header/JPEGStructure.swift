import Foundation

/// What the segments of a JPEG say, read in one pass over the file.
struct JPEGStructure {
    private(set) var size: PixelSize?
    private(set) var exif: ByteView?
    /// Whether Adobe's segment is there: its programs store inks inverted.
    private(set) var isAdobe = false
    /// Whether the file has its end marker. Decoders fill missing pixels with grey, often without an error.
    private(set) var isComplete = false
    private(set) var scans = 0

    private let byteCount: Int
    private var profileParts: [JPEGSegment] = []
    /// The coefficients for each pixel of the picture, from the sampling factors of the components.
    private var coefficientsPerPixel = 0.0
    private var components = 0
    private var isProgressive = false
    private var firstScanComponents = 0

    /// Returns `nil` if the bytes do not start as a JPEG does.
    init?(_ file: ByteView) {
        guard let segments = JPEGSegments(file) else { return nil }
        byteCount = file.count
        var iterator = segments.makeIterator()
        while let segment = iterator.next() { read(segment) }
        isComplete = iterator.isComplete
    }

    private mutating func read(_ segment: JPEGSegment) {
        if segment.marker == .startOfScan {
            if scans == 0 { firstScanComponents = Int(segment.payload[0] ?? 0) }
            scans += 1
        } else if scans > 0 {
            // Tables for the next scan. Metadata comes before the first one.
        } else if segment.marker.startsFrame {
            if size == nil { readFrame(segment) }
        } else if segment.isAdobe {
            isAdobe = true
        } else if segment.holdsProfile {
            if profileParts.count <= Int(UInt8.max) { profileParts.append(segment) }
        } else if exif == nil {
            exif = segment.exif
        }
    }

    /// A frame header (T.81, B.2.2). A side of 0 is an error, as in all viewers.
    private mutating func readFrame(_ segment: JPEGSegment) {
        let payload = segment.payload
        guard let height = payload.uint16(at: 1), let width = payload.uint16(at: 3), let count = payload[5] else {
            return
        }
        size = PixelSize(exactly: Int(width), Int(height))
        isProgressive = segment.marker.isProgressive
        components = Int(count)
        let factors = (0..<components).compactMap { payload[7 + $0 * 3] }.map { (Int($0 >> 4), Int($0 & 15)) }
        let (across, down) = (factors.map(\.0).max() ?? 0, factors.map(\.1).max() ?? 0)
        guard across > 0, down > 0 else { return }
        let blocks = factors.map { $0.0 * $0.1 }.reduce(0, +)
        coefficientsPerPixel = Double(blocks) / Double(across * down)
    }

    /// Why decoding would take memory or time out of proportion to the file; `nil` for a file in proportion.
    var disproportion: String? {
        guard let size else { return nil }
        // Each block of 64 pixels takes at least a bit.
        if size.pixelCount / 512 > byteCount { return "has \(byteCount) bytes for \(size) pixels" }
        if scans > Self.maximumScans { return "has more than \(Self.maximumScans) scans" }
        if scans > Self.maximumWork / size.pixelCount { return "has \(scans) scans for \(size) pixels" }
        // A picture in several scans is decoded whole, two bytes a coefficient.
        guard isProgressive || firstScanComponents < components else { return nil }
        let memory = Double(size.pixelCount) * coefficientsPerPixel * 2
        let allowed = max(Self.freeMemory, byteCount * Self.memoryPerByte)
        return memory > Double(allowed) ? "has \(byteCount) bytes for \(size) pixels in \(scans) scans" : nil
    }

    /// Encoders write about ten.
    private static let maximumScans = 100
    /// Every scan visits every pixel. This is enough for ten scans of 100 megapixels.
    private static let maximumWork = 1 << 30
    /// A progressive picture may take this memory, or so many times its own bytes: 128 MB is enough for 44 megapixels
    /// with 4:2:0 chroma, however well they compress.
    private static let (freeMemory, memoryPerByte) = (128 << 20, 64)

    /// The colour profile, if it is for RGB and complete (ICC.1:2022, annex B.4).
    var colorProfile: Data? {
        let start = JPEGSegment.profileSignature.count
        let parts = profileParts.sorted { ($0.payload[start] ?? 0) < ($1.payload[start] ?? 0) }
        var profile = Data()
        for (index, part) in parts.enumerated() {
            guard let number = part.payload[start], Int(number) == index + 1,
                let total = part.payload[start + 1], Int(total) == parts.count
            else { return nil }
            profile += part.payload.bytes.dropFirst(start + 2)
        }
        return ColorProfile.rgb(profile)
    }
}

/// Checks colour profiles. Their content is not read: a picture keeps its profile as it is.
enum ColorProfile {
    /// The profile, if its header says that it is one for RGB (ICC.1:2022, 7.2) and has this length.
    static func rgb(_ profile: Data) -> Data? {
        let view = ByteView(profile)
        guard view.length32(at: 0) == view.count, view.holds("RGB ".utf8, at: 16), view.holds("acsp".utf8, at: 36)
        else { return nil }
        return profile
    }
}

enum JPEGMetadata {
    /// The JPEG without EXIF, XMP, IPTC, comments, previews and other application segments, and without bytes after
    /// its end.
    ///
    /// The segments that define the colours stay: JFIF, the colour profile, and Adobe's colour transform. Encoders add
    /// segments of their own (ImageIO adds Exif to every JPEG), so they are removed here and not by each codec.
    ///
    /// - Throws: ``ImagingError`` with `encodingFailed` if the bytes are not a whole JPEG.
    static func stripped(from jpeg: Data) throws(ImagingError) -> Data {
        guard var segments = JPEGSegments(ByteView(jpeg))?.makeIterator() else { throw notJPEG }
        var kept = Data()
        // Coded data follows a scan's header, so what is kept reaches up to the next segment that is removed.
        var keptFrom = 0
        var hasScan = false
        while let segment = segments.next() {
            hasScan = hasScan || segment.marker == .startOfScan
            guard segment.marker.isMetadata, !segment.decidesColors else { continue }
            kept += jpeg.dropFirst(keptFrom).prefix(segment.offset - keptFrom)
            keptFrom = segment.offset + segment.count
        }
        guard hasScan, segments.isComplete else { throw notJPEG }
        return kept + jpeg.dropFirst(keptFrom).prefix(segments.offset - keptFrom)
    }

    private static var notJPEG: ImagingError {
        ImagingError(.encodingFailed, "The codec did not write a JPEG: check the ImageCodec in use.")
    }

    /// The JPEG with a colour profile, in as many segments as it needs. It is unchanged for a profile of more than 16
    /// MB, which the format cannot hold.
    static func adding(colorProfile: Data, to jpeg: Data) -> Data {
        let space = Int(UInt16.max) - 2 - JPEGSegment.profileSignature.count - 2
        let count = (colorProfile.count + space - 1) / space
        guard let total = UInt8(exactly: count), let first = JPEGSegments(ByteView(jpeg))?.first(where: { _ in true })
        else { return jpeg }
        var segments = Data()
        for index in 0..<count {
            let part = colorProfile.dropFirst(index * space).prefix(space)
            let payload = Data(JPEGSegment.profileSignature) + [UInt8(index + 1), total] + part
            segments += JPEGSegment.bytes(.app2, payload: payload) ?? Data()
        }
        // After the JFIF segment, which must be the first.
        let position = first.marker == .app0 ? first.offset + first.count : first.offset
        return jpeg.prefix(position) + segments + jpeg.dropFirst(position)
    }
}
