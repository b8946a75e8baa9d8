/// How a camera held the sensor: what must be done to the stored picture to see it upright.
///
/// The values are those of tag 0x0112 (Orientation) in Exif 2.32, which takes them from TIFF 6.0; the names are the
/// ones Apple's frameworks use.
public enum EXIFOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Stored as seen.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Upside down: turn by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from the top left.
    case leftMirrored = 5
    /// Turn by 90° clockwise: a telephone held upright stores this.
    case right = 6
    /// Mirrored along the diagonal from the top right.
    case rightMirrored = 7
    /// Turn by 90° anticlockwise.
    case left = 8

    /// Whether the upright picture lies on the other side: width and height change places.
    public var swapsAxes: Bool { rawValue >= Self.leftMirrored.rawValue }

    /// The orientation that undoes this one: only the two quarter turns are not their own.
    public var inverse: EXIFOrientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }
}

extension PixelSize {
    /// The size of the upright picture when this is the size of the stored one, and the other way round.
    package func oriented(by orientation: EXIFOrientation) -> PixelSize {
        orientation.swapsAxes ? swapped : self
    }
}

extension Bitmap {
    /// The upright picture, when this one is stored with `orientation`.
    ///
    /// To make a stored picture from an upright one, apply the ``EXIFOrientation/inverse``.
    ///
    /// - Complexity: O(pixels), in one copy.
    public func oriented(by orientation: EXIFOrientation) -> Bitmap {
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

/// The order in which stored pixels are read to give the upright picture: where its top left pixel is, and how far
/// one step to the right and one step down go.
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
