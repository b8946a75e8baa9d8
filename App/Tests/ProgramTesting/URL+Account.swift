package import Foundation

extension URL {
    /// The account of a server in the stores of the program: its base URL in one spelling.
    package var account: String { "http://\(host ?? ""):\(port ?? 0)\(path)" }
}
