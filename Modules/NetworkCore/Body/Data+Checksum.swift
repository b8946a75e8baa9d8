package import Foundation

extension Data {
    /// A number that shows whether bytes have changed (FNV-1a, by words of 8 bytes). It proves nothing to an attacker.
    package var checksum: UInt64 {
        let prime: UInt64 = 0x0000_0100_0000_01B3
        return withUnsafeBytes { bytes in
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            let words = bytes.count / 8
            for index in 0..<words {
                let word = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
                sum = (sum ^ word.littleEndian) &* prime
            }
            for byte in bytes[(words * 8)...] { sum = (sum ^ UInt64(byte)) &* prime }
            return sum
        }
    }
}
