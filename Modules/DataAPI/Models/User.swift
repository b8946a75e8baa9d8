public import Foundation

/// A user with an account.
public struct User: Sendable, Hashable, Identifiable, Decodable {
    /// The identifier of a user.
    public typealias ID = Identifier<User>

    /// The identifier.
    public let id: ID

    /// The display name.
    public let name: String

    /// The URL of the user's picture; `nil` if there is none.
    public let profileURL: URL?

    /// The key of the user's picture, for `NetworkCore.Endpoint.file(_:)`; `nil` if there is none.
    public let profileImageKey: FileKey?

    /// Creates a user.
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

    /// Reads a user. An invalid profile URL or key counts as no picture, so that it does not prevent a
    /// sign-in.
    ///
    /// - Throws: `DecodingError` when `id` or `name` is missing or of another type.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try object.decode(ID.self, forKey: .id),
            name: try object.decode(String.self, forKey: .name),
            profileURL: (try? object.decodeIfPresent(String.self, forKey: .profileURL)).flatMap { URL(string: $0) },
            profileImageKey: (try? object.decodeIfPresent(String.self, forKey: .profileImageKey))
                .flatMap { $0.isEmpty ? nil : FileKey(rawValue: $0) })
    }
}

/// An identity provider whose tokens the server accepts for a login.
public struct SocialProvider: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The name of the provider at the server.
    public let rawValue: String

    /// Creates a provider.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Sign in with Apple.
    public static let apple = SocialProvider(rawValue: "apple")

    /// Kakao Login.
    public static let kakao = SocialProvider(rawValue: "kakao")

    /// The name of the provider at the server.
    public var description: String { rawValue }
}

/// The key of an uploaded file. It is not secret: reading the file needs a token.
public struct FileKey: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
    /// The key as text.
    public let rawValue: String

    /// Creates a key.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The key as text.
    public var description: String { rawValue }
}
