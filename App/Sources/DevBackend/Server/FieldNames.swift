import Foundation
import HTTPTypes
import Hummingbird

extension HTTPField.Name {
    static let xRequestID = literal("X-Request-Id")
    static let idempotencyKey = literal("Idempotency-Key")

    /// A name written in this code, where anything but a token is a slip of the pen.
    private static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("Not a field name: \(text)") }
        return name
    }
}

extension Request {
    /// The value of `Idempotency-Key`; nil when there is none.
    ///
    /// - Throws: `VALIDATION_FAILED` for an empty key or one longer than `limit` characters.
    func idempotencyKey(upTo limit: Int) throws(APIError) -> String? {
        guard let key = headers[.idempotencyKey] else { return nil }
        guard (1...limit).contains(key.count) else {
            throw APIError.validation("Idempotency-Key", "Must have 1 to \(limit) characters.")
        }
        return key
    }
}

/// Which identifier a request goes by.
enum RequestIdentifier {
    private static let longest = 128

    /// The identifier the client offered when it is fit for headers and logs, a new one otherwise.
    static func choose(offered: String?) -> String {
        guard let offered, isSane(offered) else { return UUID().uuidString.lowercased() }
        return offered
    }

    private static func isSane(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

/// The format of a `Date` field (RFC 9110 §5.6.7, IMF-fixdate).
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    static func string(from date: Date) -> String {
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: date)
        guard
            let weekday = parts.weekday, let day = parts.day, let month = parts.month, let year = parts.year,
            let hour = parts.hour, let minute = parts.minute, let second = parts.second
        else { return "" }
        let time = [hour, minute, second].map(padded).joined(separator: ":")
        return "\(days[weekday - 1]), \(padded(day)) \(months[month - 1]) \(year) \(time) GMT"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
