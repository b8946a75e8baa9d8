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
            let start = tiff.slice(at: directory, count: 2)?.uint16(at: 0, order).map({ (directory + 2, Int($0)) })
        else { return nil }
        let (firstEntry, count) = start
        for index in 0..<count {
            // An entry: tag, type, count of values, and the value if it takes at most four bytes.
            guard let entry = tiff.slice(at: firstEntry + index * 12, count: 12) else { return nil }
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
}
