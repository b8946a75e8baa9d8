package import Foundation

package let baseURL = url("https://api.example.com/api/v1")

/// A URL of a literal. A mistake ends the test.
package func url(_ text: String) -> URL {
    guard let url = URL(string: text) else { preconditionFailure("no URL: \(text)") }
    return url
}
