// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import CoreGraphics

// The part of ImageIO that Modules/Imaging/Codecs calls. See the stub of Darwin for what such a stub shows.

public final class CGImageSource {}
public final class CGImageDestination {}
public let kCGImageSourceCreateThumbnailFromImageAlways: CFString = "FromImageAlways"
public let kCGImageSourceCreateThumbnailWithTransform: CFString = "WithTransform"
public let kCGImageSourceThumbnailMaxPixelSize: CFString = "MaxPixelSize"
public let kCGImageDestinationLossyCompressionQuality: CFString = "Quality"
public let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
public let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
public let kCGImagePropertyOrientation: CFString = "Orientation"
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { nil }

public func CGImageSourceCreateThumbnailAtIndex(
    _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { nil }

public func CGImageSourceGetType(_ source: CGImageSource) -> CFString? { nil }

/// Of another type than in the framework: a dictionary of Core Foundation is cast to one of Swift.
public func CGImageSourceCopyPropertiesAtIndex(
    _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> AnyObject? { nil }

public func CGImageDestinationCreateWithData(
    _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? { nil }

public func CGImageDestinationAddImage(
    _ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?
) {}

public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool { false }
