/// Converts CMYK to RGB without a colour profile.
struct InkConversion {
    /// Whether 255 means no ink. Adobe's programs store it so and add a segment to the file; other encoders that add
    /// the segment do the same.
    let inverted: Bool

    /// Converts four samples for each pixel to three.
    func rgb(_ inks: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: inks.count / 4 * 3) { buffer, count in
            count = inks.count / 4 * 3
            inks.withUnsafeBufferPointer { inks in
                for pixel in 0..<inks.count / 4 {
                    let black = light(inks[pixel * 4 + 3])
                    for channel in 0..<3 {
                        buffer[pixel * 3 + channel] = UInt8((light(inks[pixel * 4 + channel]) * black + 127) / 255)
                    }
                }
            }
        }
    }

    /// The light that an ink transmits, from 0 to 255.
    private func light(_ ink: UInt8) -> Int { inverted ? Int(ink) : 255 - Int(ink) }
}
