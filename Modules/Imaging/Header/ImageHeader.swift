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
    /// - Complexity: O(bytes) for a JPEG, O(chunks) for a PNG.
    public init(parsing data: Data) throws(ImagingError) {
        let file = ByteView(data)
        if let structure = JPEGStructure(file) {
            try self.init(structure)
        } else if let chunks = PNGChunks(file) {
            try self.init(chunks)
        } else if let name = Self.knownFormat(of: file) {
            throw ImagingError(.unsupportedFormat, "\(name) cannot be read here: convert the picture to JPEG or PNG.")
        } else {
            throw ImagingError(.notAnImage, "The file is not a picture: choose a JPEG or a PNG.")
        }
    }

    init(_ jpeg: JPEGStructure) throws(ImagingError) {
        guard let size = jpeg.size, jpeg.scans > 0 else {
            throw ImagingError(
                .decodingFailed, "The JPEG's header is damaged: choose another file.", sourceSize: jpeg.size)
        }
        guard jpeg.isComplete else {
            throw ImagingError(
                .decodingFailed, "The JPEG is cut off: fetch the whole file and try again.", sourceSize: size)
        }
        self.init(format: .jpeg, size: size, orientation: jpeg.exif.flatMap(EXIFOrientation.init(tiff:)) ?? .up)
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
        if file.holds("ftyp".utf8, at: 4) { return mediaFormat(of: file) }
        let signatures: [(name: String, bytes: String, offset: Int)] = [
            ("GIF", "GIF8", 0), ("WebP", "WEBP", 8), ("BMP", "BM", 0), ("TIFF", "II*\0", 0), ("TIFF", "MM\0*", 0),
            ("JPEG XL", "\0\0\0\u{0C}JXL ", 0), ("JPEG 2000", "\0\0\0\u{0C}jP  ", 0), ("Photoshop", "8BPS", 0),
            ("SVG", "<svg", 0), ("PDF", "%PDF-", 0),
        ]
        return signatures.first { file.holds($0.bytes.utf8, at: $0.offset) }?.name
    }

    /// The format by the brands of an ISO base media file (ISO/IEC 14496-12, 4.3): the major one, or a compatible one.
    private static func mediaFormat(of file: ByteView) -> String? {
        let names = [
            "heic": "HEIC", "heix": "HEIC", "heim": "HEIC", "heis": "HEIC", "hevc": "HEIC", "hevx": "HEIC",
            "avif": "AVIF", "avis": "AVIF", "crx ": "Canon CR3", "mif1": "HEIF", "msf1": "HEIF",
        ]
        let end = min(file.length32(at: 0) ?? 0, file.count, 256)
        let brands = [8] + Array(stride(from: 16, to: max(end - 3, 16), by: 4))
        let known = brands.compactMap { offset in
            file.slice(at: offset, count: 4).flatMap { names[String(decoding: $0.bytes, as: UTF8.self)] }
        }
        // "mif1" is the major brand of HEIC and of AVIF files too: a compatible one says which.
        return known.first { $0 != "HEIF" } ?? known.first
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
