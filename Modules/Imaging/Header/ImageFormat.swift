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
