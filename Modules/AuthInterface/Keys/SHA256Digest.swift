package import Foundation

/// SHA-256 (FIPS 180-4 §6.2). Foundation has none on Linux, and what hashes here needs no trait.
package enum SHA256Digest {
    /// The bytes that are mixed at a time.
    package static let blockSize = 64

    private static let roundConstants: [UInt32] = fractions(ofRootsOf: primes(64)) { cbrt($0) }
    private static let initialState: [UInt32] = fractions(ofRootsOf: primes(8)) { $0.squareRoot() }

    /// The digest: 32 bytes.
    package static func of(_ bytes: [UInt8]) -> Data {
        var padded = bytes + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        let bitCount = UInt64(bytes.count) * 8
        padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: bitCount >> ($0 * 8)) }
        var state = initialState
        for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<(start + 64)], into: &state) }
        return Data(state.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let small = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
            let large = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
            words.append(words[index - 16] &+ small &+ words[index - 7] &+ large)
        }
        var v = state
        for index in 0..<64 {
            let sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let first = v[7] &+ sum1 &+ choice &+ roundConstants[index] &+ words[index]
            let sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v = [first &+ sum0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for index in state.indices { state[index] &+= v[index] }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func primes(_ count: Int) -> [Int] {
        Array((2...).lazy.filter { number in !(2..<number).contains { number % $0 == 0 } }.prefix(count))
    }

    /// The first 32 bits of the fractional parts.
    private static func fractions(ofRootsOf numbers: [Int], _ root: (Double) -> Double) -> [UInt32] {
        numbers.map { number in
            let value = root(Double(number))
            return UInt32((value - value.rounded(.down)) * 4_294_967_296)
        }
    }
}
