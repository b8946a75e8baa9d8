import ArticlesUI
import DataAPI
import Foundation
import Mustache

/// A rendered page.
struct Page: Sendable, Equatable {
    /// A part that is replaced when it changes, by the identifier of its element.
    struct Region: Sendable, Equatable {
        let id: String
        let html: String
    }

    let location: Location
    let html: String
    let regions: [Region]

    /// The page as an event for the script: one line of JSON.
    var event: String {
        struct Event: Encodable {
            let location: String
            let regions: [String: String]
        }
        let event = Event(
            location: location.path, regions: Dictionary(regions.map { ($0.id, $0.html) }) { $1 })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// What a page shows between the header and the end.
struct Screen {
    /// The template of the screen.
    let template: String

    /// The templates of the parts that are replaced when they change, by the identifiers of their elements.
    let regions: [String: String]

    let title: String

    /// The members that the templates name.
    let content: Any

    /// Whether something is under way: a page without a script then loads itself again.
    let isBusy: Bool
}

/// Renders pages from the models.
@MainActor
struct PageRenderer {
    /// What the layout names.
    private struct Layout {
        let language: String
        let t: TemplateTexts
        let title: String
        let location: String
        let formToken: String
        let isBusy: Bool
        let isSignedIn: Bool
        let user: String?
        let template: String
        var region = ""
        let screen: Any
    }

    private static let regionOfUser = ["user": "user"]

    /// The page of the screen that is shown.
    func page(of app: AppModel, at location: Location, in language: Language, formToken: Secret) -> Page {
        let strings = Strings(language)
        let screen = screen(of: app, strings)
        var isSignedIn = false
        var user: String?
        if case .main(let main) = app.root { (isSignedIn, user) = (true, main.user?.name) }
        var layout = Layout(
            language: language.rawValue, t: TemplateTexts(strings: strings), title: screen.title,
            location: location.path, formToken: formToken.text, isBusy: screen.isBusy, isSignedIn: isSignedIn,
            user: user, template: screen.template, screen: screen.content)
        let html = render(layout, "layout")
        let regions = screen.regions.merging(Self.regionOfUser) { $1 }.sorted { $0.key < $1.key }.map { id, template in
            layout.region = template
            return Page.Region(id: id, html: render(layout, "region"))
        }
        return Page(location: location, html: html, regions: regions)
    }

    private func render(_ layout: Layout, _ template: String) -> String {
        PageTemplates.library.render(layout, withTemplate: template) ?? ""
    }

    private func screen(of app: AppModel, _ strings: Strings) -> Screen {
        switch app.root {
        case .splash(let splash): .launch(splash, strings)
        case .signIn(let login): .signIn(login, app.alert, strings)
        case .main(let main):
            switch main.path.last {
            case .article(let id): .article(main.article(id), strings)
            case .compose: .compose(main.compose, strings)
            case .account: .account(main.upgrade, strings)
            case nil: .articles(main.list, strings)
            }
        }
    }
}
