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

    /// Whether width and height of the upright picture are exchanged.
    public var swapsAxes: Bool { rawValue >= Self.leftMirrored.rawValue }

    /// The orientation that reverses this one. Only the quarter turns differ from their inverse.
    public var inverse: EXIFOrientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }
}

extension PixelSize {
    /// The size of the upright picture for the size of the stored one, and the reverse.
    package func oriented(by orientation: EXIFOrientation) -> PixelSize {
        orientation.swapsAxes ? swapped : self
    }
}

extension Bitmap {
    /// The upright picture of one that is stored with an orientation.
    ///
    /// The ``EXIFOrientation/inverse`` makes a stored picture from an upright one.
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
