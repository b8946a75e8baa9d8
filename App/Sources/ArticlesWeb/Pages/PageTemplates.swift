import ArticlesUI
import Mustache

/// The templates of the pages.
enum PageTemplates {
    /// The layout and the parts of the pages, by name.
    static let sources: [String: String] = [
        "layout": layout, "region": "{{#screen}}{{>*region}}{{/screen}}",
        "form-token": #"<input type="hidden" name="form-token" value="{{formToken}}">"#,
        "error": #"<p class="error" role="alert">{{.}}</p>"#,
        "user": user, "refusal": refusal, "welcome": welcome,
    ].merging(launch) { $1 }.merging(signIn) { $1 }.merging(articles) { $1 }.merging(compose) { $1 }.merging(account) {
        $1
    }

    /// The compiled templates.
    static let library = MarkupTemplates(sources)

    /// A page without style: the style is for the browser with the cookie.
    private static let refusal = #"""
        <!doctype html><html lang="{{language}}"><head><meta charset="utf-8">\#
        <meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">\#
        <title>{{title}}</title></head><body><h1>{{title}}</h1><p>{{text}}</p></body></html>
        """#

    /// Leads to the first page.
    private static let welcome = #"""
        <!doctype html><html lang="{{language}}"><head><meta charset="utf-8">\#
        <meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">\#
        <meta http-equiv="refresh" content="0;url=/">\#
        <title>{{title}}</title></head><body><p><a href="/">{{title}}</a></p></body></html>
        """#

    private static let layout = #"""
        <!doctype html>
        <html lang="{{language}}">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{title}} – {{t.appName}}</title>
        <link rel="icon" href="/icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="/style.css">
        {{#isBusy}}
        <noscript><meta http-equiv="refresh" content="1"></noscript>
        {{/isBusy}}
        <script src="/script.js" defer></script>
        </head>
        <body data-location="{{location}}" class="{{template}}">
        <a class="skip" href="#content">{{t.skipToContent}}</a>
        <header>
        <div class="bar">
        <a class="brand" href="/">{{t.appName}}</a>
        <div class="user" id="user" data-live>{{>user}}</div>
        </div>
        </header>
        <p class="lost" id="lost" role="status" data-text="{{t.serverLost}}"></p>
        <main id="content" tabindex="-1">{{#screen}}{{>*template}}{{/screen}}</main>
        </body>
        </html>
        """#

    private static let user = #"""
        {{#isSignedIn}}
        <a class="name" id="account" href="/account">{{#user}}{{.}}{{/user}}{{^user}}{{t.account}}{{/user}}</a>
        <form method="post" action="/sign-out">\#
        {{>form-token}}<button id="sign-out" class="quiet">{{t.signOut}}</button></form>
        {{/isSignedIn}}
        """#
}

/// The texts of a language, for templates: `{{t.signIn}}`.
struct TemplateTexts: MustacheParent {
    let strings: Strings

    func child(named name: String) -> Any? { Phrase(rawValue: name).map { strings($0) } }
}
