import DataAPI
import Foundation

/// A user as `--json` prints one.
struct UserObject: Encodable {
    let id: Int64
    let name: String
    let profileURL: String?

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        profileURL = user.profileURL?.absoluteString
    }
}
