import NetworkCore

/// The place of the replaced access token in a refresh call.
public struct RefreshAccessTokenPlacement: Sendable, Hashable {
    private enum Kind: Hashable {
        case omitted
        case body
        case field(name: String, prefix: String)
    }

    private let kind: Kind

    /// Not in the call.
    public static let omitted = RefreshAccessTokenPlacement(kind: .omitted)

    /// In the body, as `accessToken` beside `refreshToken`.
    public static let body = RefreshAccessTokenPlacement(kind: .body)

    /// In a header field, `Authorization: Bearer …`.
    public static let bearer = RefreshAccessTokenPlacement(kind: .field(name: "Authorization", prefix: "Bearer "))

    /// In another header field.
    ///
    /// - Parameter name: The name of the field.
    /// - Returns: The placement.
    public static func field(_ name: String) -> RefreshAccessTokenPlacement {
        RefreshAccessTokenPlacement(kind: .field(name: name, prefix: ""))
    }

    var isInBody: Bool { kind == .body }

    /// Adds the header field. A token that no header field can carry is left out, so that the refresh does not fail.
    func place<Response>(_ token: String, in call: Endpoint<Response>) -> Endpoint<Response> {
        guard case .field(let name, let prefix) = kind, token.fitsHeaderField else { return call }
        return call.header(name, prefix + token)
    }
}
