import ArticlesUI
import DataAPI
import Foundation
import Mustache

/// A rendered page.
struct Page: Sendable, Equatable {
    let location: Location
    let html: String
}

/// The parts of a page that may have changed.
struct PageUpdate: Sendable, Equatable {
    let location: Location

    /// The contents of the parts, by the identifiers of their elements.
    let regions: [String: String]

    /// The event for the script: one line of JSON.
    var event: String {
        struct Event: Encodable {
            let location: String
            let regions: [String: String]
        }
        let event = Event(location: location.path, regions: regions)
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
    func page(of app: AppModel, at location: Location, in language: Language, formToken: String) -> Page {
        let (_, layout) = self.layout(of: app, at: location, in: language, formToken: formToken)
        return Page(location: location, html: render(layout, "layout"))
    }

    /// The parts of that page which can change.
    func update(of app: AppModel, at location: Location, in language: Language, formToken: String) -> PageUpdate {
        let (screen, found) = self.layout(of: app, at: location, in: language, formToken: formToken)
        var layout = found
        let regions = screen.regions.merging(Self.regionOfUser) { $1 }.mapValues { template in
            layout.region = template
            return render(layout, "region")
        }
        return PageUpdate(location: location, regions: regions)
    }

    private func layout(
        of app: AppModel, at location: Location, in language: Language, formToken: String
    ) -> (Screen, Layout) {
        let strings = Strings(language)
        let screen = screen(of: app, strings)
        var isSignedIn = false
        var user: String?
        if case .main(let main) = app.root { (isSignedIn, user) = (true, main.user?.name) }
        let layout = Layout(
            language: language.rawValue, t: TemplateTexts(strings: strings), title: screen.title,
            location: location.path, formToken: formToken, isBusy: screen.isBusy, isSignedIn: isSignedIn,
            user: user, template: screen.template, screen: screen.content)
        return (screen, layout)
    }

    private func render(_ layout: Layout, _ template: String) -> String {
        PageTemplates.library.render(layout, template)
    }

    private func screen(of app: AppModel, _ strings: Strings) -> Screen {
        switch app.root {
        case .splash(let splash): .launch(splash, strings)
        case .signIn(let login): .signIn(login, app.alert, strings)
        case .main(let main):
            switch main.path.last {
            case .article(let id): .article(main.article(id), strings)
            case .compose: .compose(main.compose, strings)
            case .account: .account(main, strings)
            case nil: .articles(main.list, strings)
            }
        }
    }
}
