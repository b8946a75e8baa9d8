public import Foundation

/// Somebody with an account.
public struct User: Sendable, Hashable, Identifiable, Decodable {
    /// What the server knows a user by.
    public struct ID: Sendable, Hashable, RawRepresentable, Codable, ExpressibleByIntegerLiteral {
        /// The number.
        public let rawValue: Int64

        /// Takes a number.
        ///
        /// - Parameter rawValue: The number.
        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// Takes a number written in code.
        ///
        /// - Parameter value: The number.
        public init(integerLiteral value: Int64) {
            self.init(rawValue: value)
        }
    }

    /// What the server knows the user by.
    public let id: ID

    /// The name the user goes by.
    public let name: String

    /// Where the user's picture is, for whoever may see it. `nil`: there is none.
    public let profileURL: URL?

    /// The picture's key, for ``NetworkCore/Endpoint/file(_:)``. `nil`: there is none.
    public let profileImageKey: FileKey?

    /// Creates a user.
    ///
    /// - Parameters:
    ///   - id: What the server knows the user by.
    ///   - name: The name the user goes by.
    ///   - profileURL: Where the user's picture is.
    ///   - profileImageKey: The picture's key.
    public init(id: ID, name: String, profileURL: URL? = nil, profileImageKey: FileKey? = nil) {
        self.id = id
        self.name = name
        self.profileURL = profileURL
        self.profileImageKey = profileImageKey
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, profileImageKey
        case profileURL = "profileUrl"
    }

    /// Reads a user. A picture's address that is none counts as no picture: nobody fails to sign in for it.
    ///
    /// - Parameter decoder: Where to read from.
    /// - Throws: `DecodingError` when `id` or `name` is missing or of another type.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try object.decode(ID.self, forKey: .id),
            name: try object.decode(String.self, forKey: .name),
            profileURL: (try? object.decodeIfPresent(String.self, forKey: .profileURL)).flatMap { URL(string: $0) },
            profileImageKey: try object.decodeIfPresent(FileKey.self, forKey: .profileImageKey)
        )
    }
}

extension User.ID: CustomStringConvertible {
    /// The number as text.
    public var description: String { String(rawValue) }
}
