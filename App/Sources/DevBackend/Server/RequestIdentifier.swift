import Foundation
import HTTPTypes

/// Chooses the identifier of a request.
enum RequestIdentifier {
    private static let maximumLength = 128

    /// The identifier that the client sent if it is safe in headers and logs, otherwise a new one.
    static func choose(offered: String?) -> String {
        guard let offered, isSafe(offered) else { return UUID().uuidString.lowercased() }
        return offered
    }

    private static func isSafe(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count)
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

extension HTTPField.Name {
    static let xRequestID = literal("X-Request-Id")
    static let idempotencyKey = literal("Idempotency-Key")
    static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    /// A second `Host`. The first one is no header field: it is the authority of the request.
    static let host = literal("Host")

    /// A name written in this code, so an invalid one is a programming error.
    private static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("Not a field name: \(text)") }
        return name
    }
}
