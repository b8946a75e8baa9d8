import Foundation
package import NetworkTesting

extension SentRequest {
    /// The members of a JSON object of texts; empty for any other body.
    package var json: [String: String] {
        body.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    /// The body as text.
    package var text: String { body.map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
