import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers

/// Lets the requests of one browser pass, and refuses all others with 403.
///
/// - The token of the first URL is exchanged once for a cookie. Other users of the computer know neither.
/// - The host must be the random name of this server, `articles-….localhost`, with the port. Browsers resolve the names
///   under `localhost` to this computer (RFC 6761 §6.3). Cookies know no ports: a cookie of `127.0.0.1` is sent to
///   every other server on it, and one of a name that no other page knows is not. A page of another site whose name was
///   made to resolve to this computer has another host too.
/// - A page of another origin may not cause a request at all: browsers say where a request comes from. A form needs the
///   form token too.
final class AccessGuard: Sendable {
    enum Decision: Equatable {
        case pass
        /// The token was valid: the response sets the cookie.
        case welcome
        case refuse
    }

    /// The token of the first URL.
    let token = Secret()

    /// What the forms show: that they are of a page of this server.
    private let formSecret = Secret()

    private let name = "articles-\(Secret().text.prefix(32)).localhost"
    private let cookie = Secret()
    private let isTokenUsed = NIOLockedValueBox(false)

    /// The host and the port of the pages. Browsers leave the port of the scheme out (RFC 9110 §4.2.3).
    func authority(port: Int) -> String { port == 80 ? name : "\(name):\(port)" }

    /// The token of the forms of a session, which has a number.
    func formToken(_ number: Int) -> String { "\(formSecret.text)-\(number)" }

    /// The number in the token of a form. `nil`: the form is not of a page of this server.
    func formNumber(in token: String) -> Int? {
        let parts = token.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, formSecret.matches(parts[0]) else { return nil }
        return Int(parts[1])
    }

    /// The cookie's field, for the name of this server only: it has no `Domain`.
    func cookieField() -> String { "\(Self.cookieName)=\(cookie.text); Path=/; HttpOnly; SameSite=Strict" }

    private static let cookieName = "articles"

    /// Decides on a request with the token of its URL. A token that was accepted is not accepted again.
    func decision(on request: HTTPRequest, token offered: (some StringProtocol)?, port: Int) -> Decision {
        let host = authority(port: port)
        guard request.authority == host, !request.headerFields.contains(.hostField) else { return .refuse }
        let isAllowed = hasCookie(request.headerFields)
        if request.method == .get, let offered {
            // A link from a terminal or a message may be of another site: the token shows that the user has it.
            if isAllowed, isFromHere(request) { return .pass }
            return exchange(offered) ? .welcome : .refuse
        }
        guard isAllowed, isFromHere(request) else { return .refuse }
        return request.method == .get || isFromOwnPage(request, host) ? .pass : .refuse
    }

    private func hasCookie(_ fields: HTTPFields) -> Bool {
        var isFound = false
        for pair in fields[values: .cookie].joined(separator: ";").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2, parts[0] == Self.cookieName, cookie.matches(parts[1]) { isFound = true }
        }
        return isFound
    }

    private func exchange(_ offered: some StringProtocol) -> Bool {
        guard token.matches(offered) else { return false }
        return isTokenUsed.withLockedValue { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }

    /// Whether the browser says that the user or a page of this origin has caused the request, or does not say.
    private func isFromHere(_ request: HTTPRequest) -> Bool {
        guard let site = request.headerFields[.secFetchSite] else { return true }
        return site == "same-origin" || site == "none"
    }

    /// Whether the browser says that a page of this origin has caused the request.
    ///
    /// The pages send no referrer, so browsers send the origin of their forms as `null`: the site is decisive then.
    private func isFromOwnPage(_ request: HTTPRequest, _ host: String) -> Bool {
        let origin = request.headerFields[.origin]
        guard request.headerFields[.secFetchSite] == "same-origin" else {
            return request.headerFields[.secFetchSite] == nil && origin == "http://\(host)"
        }
        return origin == nil || origin == "null" || origin == "http://\(host)"
    }
}

extension HTTPField.Name {
    // swift-format-ignore: NeverForceUnwrap
    static let secFetchSite = Self("Sec-Fetch-Site")!

    /// A second `Host` field. The first one is the authority of the request.
    // swift-format-ignore: NeverForceUnwrap
    static let hostField = Self("Host")!
}

/// A random text of 256 bits that is compared in constant time.
struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The text: 64 hexadecimal digits.
    let text: String

    init() {
        text = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// Whether a text is this one. The time depends on the length of the other text only.
    func matches(_ other: some StringProtocol) -> Bool {
        let own = Array(text.utf8)
        let other = Array(other.utf8)
        var difference = own.count ^ other.count
        for index in other.indices { difference |= Int(own[index % own.count] ^ other[index]) }
        return difference == 0
    }

    var description: String { "redacted" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
