import Foundation
import NetworkCore

/// The directives of `Cache-Control` fields (RFC 9111 §5.2).
///
/// - Complexity: O(*n*) in the length of the fields.
struct CacheControl: Equatable {
    /// A longer time counts as this: about 68 years (RFC 9111 §1.2.2).
    static let longestTime = 2_147_483_648

    private var directives: [String: String?] = [:]

    init(_ headers: HTTPHeaders) {
        let values = headers.values(of: "Cache-Control")
        for value in values { read(value) }
        if values.isEmpty, headers.values(of: "Pragma").contains(where: { $0.lowercased().contains("no-cache") }) {
            directives["no-cache"] = .some(nil)
        }
    }

    private mutating func read(_ field: String) {
        var scanner = FieldScanner(field)
        while !scanner.isAtEnd {
            if let name = scanner.token()?.lowercased() {
                var value: String?
                if scanner.skip(UInt8(ascii: "=")) { value = scanner.tokenOrQuotedString() ?? "" }
                add(name, value)
            }
            if !scanner.skip(UInt8(ascii: ",")) { scanner.skipItem() }
        }
    }

    /// Of a time that is given twice, the shorter one counts.
    private mutating func add(_ name: String, _ value: String?) {
        guard let earlier = directives[name] else {
            directives[name] = .some(value)
            return
        }
        if Self.time(value) < Self.time(earlier) { directives[name] = .some(value) }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    /// A time in seconds. `nil`: the directive is absent. An invalid time is 0.
    func seconds(_ name: String) -> TimeInterval? { directives[name].map { TimeInterval(Self.time($0)) } }

    /// Whether a directive without a time is there, as `max-stale`, which then means any time.
    func isWithoutValue(_ name: String) -> Bool { if case .some(.none) = directives[name] { true } else { false } }

    private static func time(_ text: String?) -> Int {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return min(Int(text) ?? longestTime, longestTime)
    }
}
