// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// The part of Core Graphics that Modules/Imaging/Codecs calls. See the stub of Darwin for what such a stub shows.
//
// The types of Core Foundation are those that Swift bridges them to. Apple documents the names.

public typealias CFString = String
public typealias CFData = Data
public typealias CFMutableData = NSMutableData
public typealias CFDictionary = [String: Any]

public final class CGColorSpace {
    public static let sRGB: CFString = "kCGColorSpaceSRGB"
    public init?(name: CFString) { return nil }
    public init?(iccData: CFData) { return nil }
}

public enum CGImageAlphaInfo: UInt32 {
    case none = 0
    case noneSkipLast = 5
}

public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public enum CGColorRenderingIntent: Int32 { case defaultIntent = 0 }
public final class CGDataProvider { public init?(data: CFData) { return nil } }

public final class CGImage {
    public var width: Int { 0 }
    public var height: Int { 0 }

    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) { return nil }
}

public final class CGContext {
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int,
        space: CGColorSpace, bitmapInfo: UInt32
    ) { return nil }

    public var data: UnsafeMutableRawPointer? { nil }
    public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
    public func fill(_ rect: CGRect) {}
    public func draw(_ image: CGImage, in rect: CGRect) {}
}
