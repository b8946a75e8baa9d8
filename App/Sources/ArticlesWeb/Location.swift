import ArticlesUI
import DataAPI
import Foundation

/// A screen, as the path of a URL.
enum Location: Sendable, Hashable {
    case launch, signIn, articles, compose, account
    case article(Article.ID)

    /// The path. An identifier from the server is one segment of it, with any characters.
    var path: String {
        switch self {
        case .launch: "/start"
        case .signIn: "/sign-in"
        case .articles: "/articles"
        case .compose: "/compose"
        case .account: "/account"
        case .article(let id): "/articles/\(Self.segment(id.rawValue))"
        }
    }

    private static func segment(_ text: String) -> String {
        // The unreserved characters of RFC 3986, section 2.3; a dot could be a relative segment.
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
