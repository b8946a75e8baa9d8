public import Foundation
public import NetworkCore

extension Endpoint where Response == Data {
    /// A file that was uploaded, such as a user's picture.
    ///
    /// - Parameter key: What the server knows it by.
    /// - Returns: The endpoint.
    public static func file(_ key: FileKey) -> Self { .get("files/\(key)") }
}
