import ArticlesUI
import Foundation

extension Language {
    /// The language of a browser, from the `Accept-Language` field (RFC 9110, section 12.5.4).
    ///
    /// - Parameter field: Such as `ko-KR,ko;q=0.9,en;q=0.8`; `nil` is English.
    init(accepted field: String?) {
        let ranges = (field ?? "").split(separator: ",").prefix(Self.rangeLimit).enumerated().map { index, range in
            let parts = range.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }?.dropFirst(2)
            return (tag: parts.first ?? "", weight: weight.map { Double($0) ?? 0 } ?? 1, index: index)
        }
        let preferred = ranges.filter { $0.weight > 0 }.sorted { ($1.weight, $0.index) < ($0.weight, $1.index) }
        self.init(preferred: preferred.map(\.tag))
    }

    private static let rangeLimit = 32
}
