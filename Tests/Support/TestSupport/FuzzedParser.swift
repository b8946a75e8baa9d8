package import Foundation
import Testing

/// A parser of what a server writes, with inputs that come near what it reads.
///
/// No input crashes it, makes it hang, or makes it use time out of proportion to its size (G26).
package struct FuzzedParser: Sendable, CustomTestStringConvertible {
    package let name: String
    private let seeds: [String]
    private let words: [String]
    /// Texts that, repeated, are hard for a careless parser.
    private let units: [String]
    private let parse: @Sendable (Data) throws -> Void

    package var testDescription: String { name }

    package init(
        _ name: String, seeds: [String], words: [String], units: [String] = [],
        parse: @escaping @Sendable (String) throws -> Void
    ) {
        self.init(name, seeds: seeds, words: words, units: units) { try parse(String(decoding: $0, as: UTF8.self)) }
    }

    package init(
        _ name: String, seeds: [String], words: [String], units: [String] = [],
        data: @escaping @Sendable (Data) throws -> Void
    ) {
        (self.name, self.seeds, self.words, self.units, self.parse) = (name, seeds, words, units, data)
    }

    /// Feeds the parser changed and random inputs, and expects that its time is linear in the length of its input.
    package func check() {
        Fuzzing(seeds: seeds, words: words).run(parse)
        #expect(units.filter { !Fuzzing.isLinear($0, prefix: seeds[0], suffix: seeds[0], parse) } == [], "\(name)")
    }
}
