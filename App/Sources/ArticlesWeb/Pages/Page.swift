import ArticlesUI
import DataAPI
import Foundation

/// A rendered page.
struct Page: Sendable, Equatable {
    let location: Location
    let html: String

    /// Renders the screen that is shown.
    @MainActor
    init(of app: AppModel, at location: Location, in language: Language, formToken: String) {
        let strings = Strings(language)
        let screen = Screen(app, strings)
        var members: [String: Any] = [
            "language": language.rawValue, "t": TemplateTexts(strings: strings), "title": screen.title,
            "location": location.path, "formToken": formToken, "isBusy": screen.isBusy, "template": screen.template,
            "screen": screen.members,
        ]
        if case .main(let main) = app.root {
            members["isSignedIn"] = true
            members["user"] = main.user?.name
        }
        self.location = location
        html = PageTemplates.library.render(members, "layout")
    }
}

/// A screen, as the path of a URL.
enum Location: Sendable, Hashable {
    case launch, signIn
    /// The list, or a screen above it.
    case main(MainModel.Route?)

    /// All but the articles.
    static let places: [Location] = [.launch, .signIn, .main(nil), .main(.compose), .main(.account)]

    static func article(_ id: Article.ID) -> Location { .main(.article(id)) }

    /// The path. An identifier from the server is one segment of it, with any characters.
    var path: String {
        switch self {
        case .launch: "/start"
        case .signIn: "/sign-in"
        case .main(nil): "/articles"
        case .main(.compose): "/compose"
        case .main(.account): "/account"
        case .main(.article(let id)): "/articles/\(Self.segment(id.rawValue))"
        }
    }

    private static func segment(_ text: String) -> String {
        // The unreserved characters of RFC 3986, section 2.3; a dot could be a relative segment.
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
