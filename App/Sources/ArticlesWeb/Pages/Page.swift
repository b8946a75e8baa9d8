import ArticlesUI
import DataAPI
import Foundation
import Mustache

struct Page: Sendable, Equatable {
    let location: Location
    let html: String

    /// Renders the screen that is shown, or in its place what is said of a request that failed with an HTTP status.
    @MainActor
    init(of app: AppModel, at location: Location, in language: Language, formToken: String, ofError status: Int?) {
        let strings = Strings(language)
        let screen = status.map { .error($0, strings) } ?? Screen(app, strings)
        var members: [String: Any] = [
            "language": language.rawValue, "t": TemplateTexts(strings: strings), "title": screen.title,
            "location": location.path, "formToken": formToken, "isBusy": screen.isBusy, "template": screen.template,
            "screen": screen.members,
        ]
        if let main = app.main {
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

/// The templates of the pages. What is inside an element with `data-live` is replaced when it has changed.
///
/// *plain* has no style: that is for the browser with the cookie. It says why it is no other page, or leads there. In
/// *compose* the line break after `<textarea>` is no part of the text, and one that the text begins with is.
enum PageTemplates {
    static let library = MarkupTemplates(sources)

    /// The layout, the screens and the parts that they have in common, by name.
    static let sources = MarkupTemplates.sources(in: PackageResources.pages_html)
}

/// The texts of a language, for templates: `{{t.signIn}}`.
struct TemplateTexts: MustacheParent {
    let strings: Strings

    func child(named name: String) -> Any? { Phrase(rawValue: name).map { strings($0) } }
}
