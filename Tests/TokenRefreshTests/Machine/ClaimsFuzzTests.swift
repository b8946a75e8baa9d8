import Foundation
import Testing

@testable import TokenRefresh

/// No access token crashes the reader of its claims, makes it hang, or makes it use time out of proportion to its size
/// (G26). A server writes the token.
@Suite(.timeLimit(.minutes(20))) struct ClaimsFuzzTests {
    private static let rounds = 2_000

    private static func token(_ payload: some Sequence<UInt8>) -> String {
        let text = Data(payload).base64EncodedString()
        let encoded = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "eyJhbGciOiJub25lIn0.\(encoded).c2ln"
    }

    /// Dates are from 1970 to 9999 for any token.
    private static func check(_ token: String) {
        guard let claims = JSONWebTokenClaims(token) else { return }
        for date in [claims.expiresAt, claims.issuedAt].compactMap(\.self) {
            #expect((0...253_402_300_799).contains(date.timeIntervalSince1970), "\(token)")
        }
    }

    @Test func `no token crashes or hangs the reader of its claims`() {
        let seeds = [#"{"exp":1800000000,"iat":1799999000.5}"#, #"{"exp":null,"a":[1,{"b":"\u0041"}]}"#, "[]", "null"]
        let words = ["{", "}", "[", "\"exp\":", "1e999", "-1", "9999999999999999999999", "null", "\\u0000", "."]
        var random = SplitMix64(seed: 20_261_122)
        for _ in 0..<Self.rounds {
            var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where position < bytes.count: bytes[position] = .random(in: .min ... .max, using: &random)
                case 1 where position < bytes.count: bytes.remove(at: position)
                case 2: bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: position)
                default: bytes.removeLast(min(bytes.count, Int.random(in: 0...16, using: &random)))
                }
            }
            Self.check(Self.token(bytes))
            // Not base64url, or of another number of parts.
            Self.check("a." + String(decoding: bytes, as: UTF8.self) + ".b")
            Self.check(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test(arguments: ["[", "{\"a\":", "\"", "9", "\\u0041", " ", "1,", "\"exp\":1,", "{}"])
    func `the time for a token is linear in its length`(unit: String) {
        for (start, end) in [("", ""), ("{\"exp\":", "}"), ("{\"a\":\"", "\",\"exp\":1}"), ("{\"a\":[", "1]}")] {
            func best(_ length: Int) -> Int {
                let count = length / unit.utf8.count
                let token = Self.token((start + String(repeating: unit, count: count) + end).utf8)
                return (0..<3).map { _ in Self.processorTime { _ = JSONWebTokenClaims(token) } }.min() ?? 0
            }
            // 16 times as long takes less than 100 times as long. A quadratic reader would take 256 times.
            let (short, long) = (best(2_500), best(40_000))
            #expect(long < max(short, 20_000) * 100, "\(start)\(unit)…\(end): \(short) ns, then \(long) ns")
        }
    }

    /// The nanoseconds that this thread uses, so that other work of the machine does not count.
    private static func processorTime(of body: () -> Void) -> Int {
        func now() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        let start = now()
        body()
        return now() - start
    }
}
