public import Foundation

/// An upright JPEG without metadata, within the limits of a policy.
public struct FittedPhoto: Sendable, Hashable {
    /// The file.
    public let jpeg: Data
    /// The picture's size in pixels.
    public let size: PixelSize
    /// The quality of the JPEG, one of ``FittingPolicy/qualities``.
    public let quality: Double
}
