import Foundation

/// CMYK to RGB without a profile: what screens show when nobody asks a printer.
struct InkConversion {
    /// Whether 255 means no ink. Adobe's programs store it so, and leave a mark in the file; encoders that write the
    /// mark follow them.
    let inverted: Bool

    init(inverted: Bool) { self.inverted = inverted }

    /// The conversion that a JPEG of four components asks for.
    init(jpeg: Data) {
        let segments = JPEGSegments(ByteView(jpeg))
        inverted = segments?.contains { $0.marker == .app14 && $0.payload.holds("Adobe".utf8) } ?? false
    }

    /// Four samples a pixel in, three out.
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

    /// The share of light, of 255, that an ink lets through.
    private func light(_ ink: UInt8) -> Int { inverted ? Int(ink) : 255 - Int(ink) }
}
