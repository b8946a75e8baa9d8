import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkCaching

@Suite("Cache-Control, as any server may write it", .timeLimit(.minutes(20)))
struct CacheControlTests {
    private static let seeds = ["max-age=60, stale-if-error=\"5\", private=\"a,b\"", "no-store,no-cache"]

    @Sendable private static func parse(_ input: Data) {
        let text = String(decoding: input, as: UTF8.self)
        #expect(CacheControl(HTTPHeaders([("Cache-Control", text)])).seconds("max-age") ?? 0 >= 0)
    }

    @Test func `no input crashes or hangs the parser`() {
        Fuzzing(seeds: Self.seeds, words: ["max-age", "=", "\"", ",", "\\", "99999999999999999999"]).run(Self.parse)
    }

    @Test(arguments: [",", "a=\"", "max-age=1,", "\\", "a", " "])
    func `the time of the parser is linear in the length of its input`(unit: String) {
        #expect(Fuzzing.isLinear(unit, prefix: Self.seeds[0], suffix: Self.seeds[0], Self.parse))
    }
}
