public import Foundation

/// The facts about a picture that are known before it is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The file format.
    public var format: ImageFormat
    /// The size as stored, before the orientation is applied.
    public var size: PixelSize
    /// The orientation of the stored picture.
    public var orientation: EXIFOrientation

    /// Creates a header, for your own codec.
    public init(format: ImageFormat, size: PixelSize, orientation: EXIFOrientation = .up) {
        self.format = format
        self.size = size
        self.orientation = orientation
    }

    /// Reads the header of a JPEG or a PNG, without a library.
    ///
    /// A picture with malformed Exif counts as upright.
    ///
    /// - Throws: ``ImagingError`` with `unsupportedFormat` for other known formats, `notAnImage` for other bytes,
    ///   `decodingFailed` if the header is damaged or a JPEG is cut off.
    /// - Complexity: O(segments), and O(bytes) for a JPEG without its end marker.
    public init(parsing data: Data) throws(ImagingError) {
        let file = ByteView(data)
        if let segments = JPEGSegments(file) {
            try self.init(segments, of: file)
        } else if let chunks = PNGChunks(file) {
            try self.init(chunks)
        } else if let name = Self.knownFormat(of: file) {
            throw ImagingError(.unsupportedFormat, "A \(name) picture cannot be read here: convert it to JPEG or PNG.")
        } else {
            throw ImagingError(.notAnImage, "The file is not a picture: choose a JPEG or a PNG.")
        }
    }

    private init(_ segments: JPEGSegments, of file: ByteView) throws(ImagingError) {
        var size: PixelSize?
        var exif: ByteView?
        var scan: Int?
        for segment in segments {
            if size == nil, let frame = segment.frameSize {
                size = PixelSize(exactly: frame.width, frame.height)
            }
            if exif == nil { exif = segment.exif }
            if segment.marker == .startOfScan { scan = segment.offset }
        }
        guard let size, let scan else {
            throw ImagingError(.decodingFailed, "The JPEG's header is damaged: choose another file.", sourceSize: size)
        }
        // Decoders fill missing pixels with grey, often without an error.
        guard file.endsImage(after: scan) else {
            throw ImagingError(
                .decodingFailed, "The JPEG is cut off: fetch the whole file and try again.", sourceSize: size
            )
        }
        self.init(format: .jpeg, size: size, orientation: exif.flatMap(EXIFOrientation.init(tiff:)) ?? .up)
    }

    private init(_ chunks: PNGChunks) throws(ImagingError) {
        guard let size = chunks.size else {
            throw ImagingError(.decodingFailed, "The PNG's header is damaged: choose another file.")
        }
        let exif = chunks.first { $0.type == PNGChunks.exif }?.payload
        self.init(format: .png, size: size, orientation: exif.flatMap(EXIFOrientation.init(tiff:)) ?? .up)
    }

    /// The name of a common format, for the error message.
    private static func knownFormat(of file: ByteView) -> String? {
        let signatures: [(name: String, bytes: String, offset: Int)] = [
            ("GIF", "GIF8", 0), ("WebP", "WEBP", 8), ("BMP", "BM", 0), ("TIFF", "II*\0", 0), ("TIFF", "MM\0*", 0),
            ("HEIC", "ftypheic", 4), ("HEIC", "ftypheix", 4), ("HEIF", "ftypmif1", 4), ("AVIF", "ftypavif", 4),
            ("JPEG XL", "\0\0\0\u{0C}JXL ", 0),
        ]
        return signatures.first { file.holds($0.bytes.utf8, at: $0.offset) }?.name
    }
}

extension ByteView {
    /// Whether an end-of-image marker follows `offset`. Coded data cannot contain one: its 0xFF bytes are stuffed.
    ///
    /// The search starts at the end, where the marker nearly always is.
    fileprivate func endsImage(after offset: Int) -> Bool {
        bytes.withUnsafeBytes { raw in
            var index = raw.count - 2
            while index > offset {
                if raw[index] == 0xFF, raw[index + 1] == JPEGMarker.endOfImage.rawValue { return true }
                index -= 1
            }
            return false
        }
    }
}

/// The file format of a picture.
public struct ImageFormat: RawRepresentable, Sendable, Hashable {
    /// The name, such as `JPEG`.
    public let rawValue: String

    /// Creates a format of your own codec.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// ITU-T T.81, with or without JFIF.
    public static let jpeg = ImageFormat(rawValue: "JPEG")
    /// ISO/IEC 15948.
    public static let png = ImageFormat(rawValue: "PNG")
}
