import ArticlesUI
import Mustache

/// The templates of the pages. What is inside an element with `data-live` is replaced when it has changed.
///
/// *plain* has no style: that is for the browser with the cookie. It says why it is no other page, or leads there. In
/// *compose* the line break after `<textarea>` is no part of the text, and one that the text begins with is.
enum PageTemplates {
    /// The compiled templates.
    static let library = MarkupTemplates(sources)

    /// The layout, the screens and the parts that they have in common, by name.
    static let sources = MarkupTemplates.sources(in: PackageResources.pages_html)
}

/// The texts of a language, for templates: `{{t.signIn}}`.
struct TemplateTexts: MustacheParent {
    let strings: Strings

    func child(named name: String) -> Any? { Phrase(rawValue: name).map { strings($0) } }
}
