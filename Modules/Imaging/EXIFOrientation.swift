public import Foundation

/// The rotation and reflection that turn a stored picture upright.
///
/// The values are those of tag 0x0112 (Orientation) in Exif 2.32 and TIFF 6.0. The names are those of Apple's
/// frameworks.
public enum EXIFOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Stored upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turn by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from the top left.
    case leftMirrored = 5
    /// Turn by 90° clockwise. A telephone held upright stores this.
    case right = 6
    /// Mirrored along the diagonal from the top right.
    case rightMirrored = 7
    /// Turn by 90° anticlockwise.
    case left = 8
}

extension PixelSize {
    /// The size of the upright picture for the size of the stored one, and the reverse.
    package func oriented(by orientation: EXIFOrientation) -> PixelSize {
        orientation.rawValue < EXIFOrientation.leftMirrored.rawValue ? self : PixelSize(width: height, height: width)
    }
}

extension Bitmap {
    /// The upright picture of one that is stored with an orientation.
    ///
    /// - Complexity: O(pixels), in one copy.
    package func oriented(by orientation: EXIFOrientation) -> Bitmap {
        guard orientation != .up else { return self }
        let upright = size.oriented(by: orientation)
        let path = ReadingPath(of: orientation, width: size.width, height: size.height)
        let turned = [UInt8](unsafeUninitializedCapacity: pixels.count) { buffer, count in
            var target = 0
            pixels.withUnsafeBufferPointer { pixels in
                for y in 0..<upright.height {
                    var source = (path.start + y * path.downward) * 3
                    for _ in 0..<upright.width {
                        buffer[target] = pixels[source]
                        buffer[target + 1] = pixels[source + 1]
                        buffer[target + 2] = pixels[source + 2]
                        target += 3
                        source += path.rightward * 3
                    }
                }
            }
            count = target
        }
        return Bitmap(size: upright, filled: turned, colorProfile: colorProfile)
    }
}

/// The order in which stored pixels make the upright picture: the index of its top left pixel, and the distance of one
/// step to the right and one step down.
private struct ReadingPath {
    let start: Int
    let rightward: Int
    let downward: Int

    init(of orientation: EXIFOrientation, width: Int, height: Int) {
        let (topRight, bottomLeft, bottomRight) = (width - 1, (height - 1) * width, height * width - 1)
        (start, rightward, downward) =
            switch orientation {
            case .up: (0, 1, width)
            case .upMirrored: (topRight, -1, width)
            case .down: (bottomRight, -1, -width)
            case .downMirrored: (bottomLeft, 1, -width)
            case .leftMirrored: (0, width, 1)
            case .right: (bottomLeft, -width, 1)
            case .rightMirrored: (bottomRight, -width, -1)
            case .left: (topRight, width, -1)
            }
    }
}

extension EXIFOrientation {
    private static let tag: UInt16 = 0x0112
    private static let short: UInt16 = 3
    private static let long: UInt16 = 4

    /// Reads the orientation from a TIFF structure (TIFF 6.0, section 2): the content of a JPEG's Exif segment and of a
    /// PNG's eXIf chunk.
    ///
    /// It reads the first directory only, so that no link can form a cycle. It returns `nil` if the structure is
    /// malformed, or has no valid orientation: such a picture counts as upright.
    init?(tiff: ByteView) {
        let order: ByteView.ByteOrder
        switch (tiff[0], tiff[1]) {
        case (0x4D, 0x4D): order = .bigEndian
        case (0x49, 0x49): order = .littleEndian
        default: return nil
        }
        guard tiff.uint16(at: 2, order) == 42,
            let directory = tiff.length32(at: 4, order),
            let count = tiff.uint16(at: directory, order)
        else { return nil }
        for index in 0..<Int(count) {
            // An entry: tag, type, count of values, and the value if it takes at most four bytes.
            guard let entry = tiff.slice(at: directory + 2 + index * 12, count: 12) else { return nil }
            guard entry.uint16(at: 0, order) == Self.tag else { continue }
            guard entry.uint32(at: 4, order) == 1 else { return nil }
            let value: Int?
            switch entry.uint16(at: 2, order) {
            case Self.short: value = entry.uint16(at: 8, order).map(Int.init)
            case Self.long: value = entry.length32(at: 8, order)
            default: value = nil
            }
            guard let value else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }

    /// Adds an Exif segment with this orientation to a JPEG, as a camera does. The pixels do not change.
    ///
    /// The segment is the first one, as Exif 2.32 (4.5.4) demands, and has 36 bytes. Readers use the first Exif
    /// segment, so an older one has no effect.
    ///
    /// - Throws: ``ImagingError`` with `notAnImage` if the bytes do not start as a JPEG does.
    public func tagging(_ jpeg: Data) throws(ImagingError) -> Data {
        guard JPEGSegments(ByteView(jpeg)) != nil, let segment = JPEGSegment.bytes(.app1, payload: exifPayload) else {
            throw ImagingError(.notAnImage, "Only a JPEG can be tagged with an orientation: encode the picture first.")
        }
        let start = JPEGSegments.startOfImage
        return start + segment + jpeg.dropFirst(start.count)
    }

    /// A big-endian TIFF structure whose one directory has one entry: Orientation, one SHORT.
    private var exifPayload: [UInt8] {
        JPEGSegment.exifSignature + Array("MM".utf8)
            + [0, 42, 0, 0, 0, 8]
            + [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(rawValue), 0, 0]
            + [0, 0, 0, 0]
    }
}
