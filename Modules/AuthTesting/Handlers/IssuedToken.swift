/// The parts of a token of ``RotatingTokenServer``: `refresh-ada1-2` is the third refresh token, counted from 0, of
/// ada's first login.
struct IssuedToken: Sendable, Hashable {
    enum Kind: String {
        case access
        case refresh
    }

    let kind: Kind
    let login: String
    let ordinal: Int

    init(_ kind: Kind, login: String, ordinal: Int) {
        self.kind = kind
        self.login = login
        self.ordinal = ordinal
    }

    /// Reads a token; `nil` if no ``RotatingTokenServer`` issued it.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let kind = Kind(rawValue: String(parts[0])), !parts[1].isEmpty,
            let ordinal = Int(parts[2]), ordinal >= 0
        else { return nil }
        self.init(kind, login: String(parts[1]), ordinal: ordinal)
    }

    var text: String { "\(kind.rawValue)-\(login)-\(ordinal)" }
}
