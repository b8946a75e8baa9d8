import ArticlesUI
import Mustache

/// The templates of the pages. What is inside an element with `data-live` is replaced when it has changed.
enum PageTemplates {
    /// The compiled templates.
    static let library = MarkupTemplates(sources)

    /// The layout, the screens and the parts that they have in common, by name.
    static let sources: [String: String] = [
        "layout": layout, "plain": plain,
        "launch": launch, "sign-in": signIn, "articles": articles, "article": article, "account": account,
        "compose": compose,
        "form-token": #"<input type="hidden" name="form-token" value="{{formToken}}">"#,
        "error": #"<p class="error" role="alert">{{.}}</p>"#,
        "back": #"<p class="back"><a id="back" href="/articles">{{t.articles}}</a></p>"#,
        "photo": #"""
        {{#photo}}<img src="{{.}}" alt="" width="72" height="72">{{/photo}}{{^photo}}\#
        <span class="empty" aria-hidden="true"></span>{{/photo}}
        """#,
        "facts": #"""
        {{#author}}<span>{{.}}</span>{{/author}}\#
        {{#date}}<time datetime="{{machine}}">{{text}}</time>{{/date}}
        """#,
        "providers": #"""
        {{#error}}{{>error}}{{/error}}
        <form method="post" action="{{path}}" class="buttons{{^isSigningIn}} providers{{/isSigningIn}}">
        {{>form-token}}
        {{#isSigningIn}}
        <p class="waiting" role="status">{{t.signingIn}}</p>
        <button class="quiet" formaction="{{cancelPath}}">{{t.cancel}}</button>
        {{/isSigningIn}}
        {{^isSigningIn}}{{#providers}}\#
        <button id="provider-{{name}}" name="provider" value="{{name}}">{{label}}</button>{{/providers}}{{/isSigningIn}}
        </form>
        """#,
    ]

    /// A page without style: the style is for the browser with the cookie. It says why it is no other, or leads there.
    private static let plain = #"""
        <!doctype html><html lang="{{language}}"><head><meta charset="utf-8">\#
        <meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">\#
        {{^text}}<meta http-equiv="refresh" content="0;url=/">{{/text}}<title>{{title}}</title></head><body>\#
        {{#text}}<h1>{{title}}</h1><p>{{.}}</p>{{/text}}{{^text}}<p><a href="/">{{title}}</a></p>{{/text}}</body></html>
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
        <div class="user" id="user" data-live>
        {{#isSignedIn}}
        <a class="name" id="account" href="/account">{{#user}}{{.}}{{/user}}{{^user}}{{t.account}}{{/user}}</a>
        <form method="post" action="/sign-out">\#
        {{>form-token}}<button id="sign-out" class="quiet">{{t.signOut}}</button></form>
        {{/isSignedIn}}
        </div>
        </div>
        </header>
        <p class="lost" id="lost" role="status" data-text="{{t.serverLost}}"></p>
        <main id="content" tabindex="-1">{{#screen}}{{>*template}}{{/screen}}</main>
        </body>
        </html>
        """#

    private static let launch = #"""
        <div class="splash" id="launch" data-live>
        <h1>{{t.appName}}</h1>
        {{#error}}
        <div role="alert"><p class="strong">{{t.launchFailed}}</p><p class="error">{{.}}</p></div>
        <form method="post" action="/start/retry">\#
        {{>form-token}}<button id="retry" class="primary">{{t.retry}}</button></form>
        {{/error}}
        {{^error}}<p class="waiting" role="status">{{t.launching}}</p>{{/error}}
        </div>
        """#

    private static let signIn = #"""
        <div id="alert" data-live>{{#alert}}
        <section class="alert" role="alertdialog" aria-labelledby="alert-title" \#
        aria-describedby="alert-text alert-details">
        <h2 id="alert-title">{{t.sessionEnded}}</h2>
        <p id="alert-text">{{text}}</p>
        <p id="alert-details" class="hint">{{details}}</p>
        <form method="post" action="/alert/dismiss">\#
        {{>form-token}}<button id="dismiss" class="primary" autofocus>{{t.dismiss}}</button></form>
        </section>
        {{/alert}}</div>
        <h1>{{t.signIn}}</h1>
        <div id="notice" data-live>{{#notice}}<p class="notice">{{.}}</p>{{/notice}}
        {{#signOutError}}<div class="notice" role="alert"><p>{{t.signOutIncomplete}}</p><p>{{.}}</p></div>\#
        {{/signOutError}}</div>
        <form class="card" id="guest" method="post" action="/sign-in/guest" enctype="multipart/form-data">
        {{>form-token}}
        <h2>{{t.signInAsGuest}}</h2>
        <div class="field"><label for="name">{{t.name}}</label>
        <input id="name" name="name" value="{{name}}" required pattern=".*\S.*" autocomplete="name"></div>
        <div class="field"><label for="photo">{{t.photo}}</label>
        <div class="photo"><div id="photo-preview" data-live>{{>photo}}</div>
        <div><input id="photo" name="photo" type="file" \#
        accept="image/jpeg,image/png" {{^photo}}required {{/photo}}aria-describedby="photo-hint photo-state">
        <p class="hint" id="photo-hint">{{t.photoHint}}</p>
        <div id="photo-state" data-live>
        {{#isPreparing}}<p class="waiting" role="status">{{t.preparingPhoto}}</p>{{/isPreparing}}
        {{#photo}}<p class="done" role="status">{{t.photoReady}}</p>{{/photo}}
        {{#photoError}}{{>error}}{{/photoError}}</div></div></div></div>
        <div id="guest-state" data-live>{{#guestError}}{{>error}}{{/guestError}}
        {{#upload}}
        <div class="progress"><label for="progress">{{text}}</label>
        <progress id="progress" max="100" value="{{percent}}">{{text}}</progress></div>
        <button id="register" class="quiet" formaction="/sign-in/cancel" formnovalidate>{{t.cancel}}</button>
        {{/upload}}
        {{^upload}}<button id="register" class="primary">{{t.register}}</button>{{/upload}}</div>
        </form>
        <div class="card" id="social">
        <h2>{{t.signInWithAccount}}</h2>
        <div id="social-state" data-live>{{#social}}{{>providers}}{{/social}}</div>
        </div>
        """#

    private static let articles = #"""
        <div class="title"><h1>{{t.articles}}</h1>
        <div class="buttons">
        <form method="post" action="/articles/refresh">\#
        {{>form-token}}<button id="refresh" class="quiet">{{t.refresh}}</button></form>
        <a class="button primary" id="new-article" href="/compose">{{t.newArticle}}</a>
        </div></div>
        <div id="banner" data-live>
        {{#banner}}<div class="notice" role="status"><p class="strong">{{t.showsStored}}</p><p>{{.}}</p></div>\#
        {{/banner}}</div>
        <div id="list" data-live>
        {{#isFilled}}
        <ol class="rows">
        {{#rows}}
        <li><a href="{{path}}"><span class="row-title">{{title}}</span>
        <span class="row-facts">{{>facts}}</span></a></li>
        {{/rows}}
        </ol>
        {{/isFilled}}
        {{#isLoading}}<p class="waiting" role="status">{{t.loading}}</p>{{/isLoading}}
        {{#isEmpty}}<p class="empty-text">{{t.noArticles}}</p>{{/isEmpty}}
        {{#error}}<div class="failure">{{>error}}{{/error}}
        {{#loadText}}<form method="post" action="/articles/load">\#
        {{>form-token}}<button id="load" class="primary">{{.}}</button></form>{{/loadText}}
        {{#error}}</div>{{/error}}</div>
        <div id="list-end" data-live>
        {{#moreError}}{{>error}}{{/moreError}}
        {{#hasMore}}
        <form method="post" action="/articles/more" class="more">\#
        {{>form-token}}<button id="more"{{#isLoadingMore}} \#
        aria-disabled="true"{{/isLoadingMore}}>{{moreText}}</button></form>
        {{/hasMore}}
        {{#isComplete}}<p class="end">{{t.endOfList}}</p>{{/isComplete}}</div>
        """#

    private static let article = #"""
        {{>back}}
        <article id="article" data-live>
        {{#article}}
        <h1>{{title}}</h1>
        <p class="facts">{{>facts}}</p>
        <div class="text">{{#paragraphs}}<p>{{.}}</p>{{/paragraphs}}</div>
        {{/article}}
        {{#isLoading}}<p class="waiting" role="status">{{t.loading}}</p>{{/isLoading}}
        {{#isMissing}}<h1>{{t.articleMissing}}</h1><p class="notice" role="status">{{t.errorNotFound}}</p>{{/isMissing}}
        {{#error}}
        <div class="failure">{{>error}}
        <form method="post" action="{{refreshPath}}">\#
        {{>form-token}}<button id="retry" class="primary">{{t.retry}}</button></form></div>
        {{/error}}
        {{#isLoaded}}<form method="post" action="{{refreshPath}}">\#
        {{>form-token}}<button id="retry" class="quiet">{{t.refresh}}</button></form>{{/isLoaded}}
        </article>
        """#

    private static let account = #"""
        {{>back}}
        <h1>{{t.account}}</h1>
        <div id="person" data-live>
        {{#person}}<div class="person">{{>photo}}<p class="strong">{{name}}</p></div>{{/person}}</div>
        <div id="account-state" data-live>
        {{#isKept}}<div class="notice"><p class="done" role="status">{{t.accountKept}}</p></div>{{/isKept}}
        {{^isKept}}<div class="card">
        <p class="lead">{{t.accountHint}}</p>
        {{#upgrade}}{{>providers}}{{/upgrade}}
        </div>{{/isKept}}</div>
        """#

    /// The line break after `<textarea>` is no part of the text, and one that the text begins with is.
    private static let compose = #"""
        {{>back}}
        <h1>{{t.newArticle}}</h1>
        <div id="compose-error" data-live>
        {{#error}}<div class="notice" role="alert"><p class="strong">{{t.publishFailed}} {{t.draftKept}}</p>\#
        <p class="error">{{.}}</p></div>{{/error}}</div>
        <form id="compose" class="stack" method="post" action="/compose/publish" data-draft="/compose/draft">
        {{>form-token}}
        <input type="hidden" name="draft" value="{{form}}">
        <div class="field"><label for="title">{{t.title}}</label>
        <input id="title" name="title" value="{{title}}" required pattern=".*\S.*" autocomplete="off"></div>
        <div class="field"><label for="text">{{t.text}}</label>
        <textarea id="text" name="text" rows="12" required>
        {{text}}</textarea></div>
        <div id="compose-state" data-live>
        {{#isPublishing}}
        <p class="waiting" role="status">{{t.publishing}}</p>
        <button id="publish" class="quiet" formaction="/compose/cancel" formnovalidate>{{t.cancel}}</button>
        {{/isPublishing}}
        {{^isPublishing}}<button id="publish" class="primary">{{t.publish}}</button>{{/isPublishing}}
        </div>
        </form>
        """#
}

/// The texts of a language, for templates: `{{t.signIn}}`.
struct TemplateTexts: MustacheParent {
    let strings: Strings

    func child(named name: String) -> Any? { Phrase(rawValue: name).map { strings($0) } }
}
