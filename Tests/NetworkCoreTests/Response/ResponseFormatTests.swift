import Foundation
import NetworkCore
import Testing

@Suite("Response formats")
struct ResponseFormatTests {
    /// The time of a date in JSON.
    func seconds(_ json: String, by coding: JSONCoding = .standard) throws -> Double {
        try coding.makeDecoder().decode([Date].self, from: Data("[\(json)]".utf8))[0].timeIntervalSince1970
    }

    @Test func `dates are written in whole seconds`() throws {
        let data = try JSONCoding.standard.makeEncoder().encode([Date(timeIntervalSince1970: 1_709_208_000.25)])
        #expect(String(decoding: data, as: UTF8.self) == #"["2024-02-29T12:00:00Z"]"#)
    }

    /// Dates that every coder reads.
    private static let whole = [
        ("\"2024-02-29T12:00:00Z\"", 1_709_208_000.0), ("\"2024-02-29T12:00:00.250Z\"", 1_709_208_000.25),
        ("\"2024-02-29T12:00:00.25Z\"", 1_709_208_000.25), ("\"2024-02-29T14:00:00+02:00\"", 1_709_208_000),
        ("\"2024-02-29T12:00:00.123456Z\"", 1_709_208_000.123456),
    ]

    /// Dates that leave parts out, and numbers.
    private static let partial = [
        ("\"2024-02-29T12:00Z\"", 1_709_208_000.0), ("\"2024-02-29 12:00:00Z\"", 1_709_208_000),
        ("\"2024-02-29T12:00:00\"", 1_709_208_000), ("\"2024-02-29T12:00:00.250000\"", 1_709_208_000.25),
        ("\"2024-02-29 12:00\"", 1_709_208_000), ("\"2024-02-29\"", 1_709_164_800),
        ("\"2024-02-29 14:00:00 +02:00\"", 1_709_208_000), ("\"2024-02-29t12:00:00z\"", 1_709_208_000),
        ("1709208000", 1_709_208_000), ("1709208000.25", 1_709_208_000.25), ("1709208000250", 1_709_208_000.25),
    ]

    @Test func `dates are read with and without fractions, and by lenient coders if they leave parts out`() throws {
        for (json, time) in Self.whole { #expect(try abs(seconds(json) - time) < 0.001, "\(json)") }
        for (json, time) in Self.whole + Self.partial {
            #expect(try abs(seconds(json, by: .lenient) - time) < 0.001, "\(json)")
        }
        for (json, _) in Self.partial.suffix(3) { #expect(throws: DecodingError.self) { try seconds(json) } }
        for text in ["", "2024", "2024-02-29T", "2024-02-29 12", "2024-13-01", "at 2024-02-29", "1709208000"] {
            #expect(throws: DecodingError.self, "\(text)") { try seconds("\"\(text)\"", by: .lenient) }
        }
    }

    @Test func `lenient coders write each millisecond as they read it`() throws {
        let coding = JSONCoding.lenient
        for fraction in 0..<1_000 {
            let digits = String("00\(fraction)".suffix(3))
            let text = Data(#"["2026-07-30T10:00:00.\#(digits)Z"]"#.utf8)
            #expect(try coding.makeEncoder().encode(coding.makeDecoder().decode([Date].self, from: text)) == text)
        }
    }
}
