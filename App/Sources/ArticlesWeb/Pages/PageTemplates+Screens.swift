extension PageTemplates {
    static let launch = [
        "launch": #"""
        <div class="splash" id="launch" data-live>{{>launch-state}}</div>
        """#,
        "launch-state": #"""
        <h1>{{t.appName}}</h1>
        {{#error}}
        <div role="alert"><p class="strong">{{t.launchFailed}}</p><p class="error">{{.}}</p></div>
        <form method="post" action="/start/retry">\#
        {{>form-token}}<button id="retry" class="primary">{{t.retry}}</button></form>
        {{/error}}
        {{^error}}<p class="waiting" role="status">{{t.launching}}</p>{{/error}}
        """#,
    ]

    static let signIn = [
        "sign-in": #"""
        <div id="alert" data-live>{{>alert}}</div>
        <h1>{{t.signIn}}</h1>
        <div id="notice" data-live>{{>notice}}</div>
        <form class="card" id="guest" method="post" action="/sign-in/guest" enctype="multipart/form-data">
        {{>form-token}}
        <h2>{{t.signInAsGuest}}</h2>
        <div class="field"><label for="name">{{t.name}}</label>
        <input id="name" name="name" value="{{name}}" required pattern=".*\S.*" autocomplete="name"></div>
        <div class="field"><label for="photo">{{t.photo}}</label>
        <div class="photo"><div id="photo-preview" data-live>{{>photo-preview}}</div>
        <div><input id="photo" name="photo" type="file" \#
        accept="image/jpeg,image/png" {{^isPhotoReady}}required {{/isPhotoReady}}\#
        aria-describedby="photo-hint photo-state">
        <p class="hint" id="photo-hint">{{t.photoHint}}</p>
        <div id="photo-state" data-live>{{>photo-state}}</div></div></div></div>
        <div id="guest-state" data-live>{{>guest-state}}</div>
        </form>
        <div class="card" id="social">
        <h2>{{t.signInWithAccount}}</h2>
        <div id="social-state" data-live>{{>social-state}}</div>
        </div>
        """#,
        "alert": #"""
        {{#alert}}
        <section class="alert" role="alertdialog" aria-labelledby="alert-title" \#
        aria-describedby="alert-text alert-details">
        <h2 id="alert-title">{{t.sessionEnded}}</h2>
        <p id="alert-text">{{text}}</p>
        <p id="alert-details" class="hint">{{details}}</p>
        <form method="post" action="/alert/dismiss">\#
        {{>form-token}}<button id="dismiss" class="primary" autofocus>{{t.dismiss}}</button></form>
        </section>
        {{/alert}}
        """#,
        "notice": #"""
        {{#notice}}<p class="notice">{{.}}</p>{{/notice}}
        {{#signOutError}}<div class="notice" role="alert"><p>{{t.signOutIncomplete}}</p><p>{{.}}</p></div>\#
        {{/signOutError}}
        """#,
        "photo-preview": #"""
        {{#preview}}<img src="{{.}}" alt="" width="72" height="72">{{/preview}}{{^preview}}\#
        <span class="empty" aria-hidden="true"></span>{{/preview}}
        """#,
        "photo-state": #"""
        {{#isPreparing}}<p class="waiting" role="status">{{t.preparingPhoto}}</p>{{/isPreparing}}
        {{#isPhotoReady}}<p class="done" role="status">{{t.photoReady}}</p>{{/isPhotoReady}}
        {{#photoError}}{{>error}}{{/photoError}}
        """#,
        "guest-state": #"""
        {{#guestError}}{{>error}}{{/guestError}}
        {{#isUploading}}
        <div class="progress"><label for="progress">{{uploadText}}</label>
        <progress id="progress" max="100" value="{{percent}}">{{uploadText}}</progress></div>
        <button id="register" class="quiet" formaction="/sign-in/cancel" formnovalidate>{{t.cancel}}</button>
        {{/isUploading}}
        {{^isUploading}}<button id="register" class="primary">{{t.register}}</button>{{/isUploading}}
        """#,
        "social-state": #"""
        {{#socialError}}{{>error}}{{/socialError}}
        <form method="post" action="/sign-in/social" class="buttons{{^isSigningIn}} providers{{/isSigningIn}}">
        {{>form-token}}
        {{#isSigningIn}}
        <p class="waiting" role="status">{{t.signingIn}}</p>
        <button class="quiet" formaction="/sign-in/cancel">{{t.cancel}}</button>
        {{/isSigningIn}}
        {{^isSigningIn}}{{#providers}}\#
        <button id="provider-{{name}}" name="provider" value="{{name}}">{{label}}</button>{{/providers}}{{/isSigningIn}}
        </form>
        """#,
    ]

    static let articles = [
        "articles": #"""
        <div class="title"><h1>{{t.articles}}</h1>
        <div class="buttons">
        <form method="post" action="/articles/refresh">\#
        {{>form-token}}<button id="refresh" class="quiet">{{t.refresh}}</button></form>
        <a class="button primary" id="new-article" href="/compose">{{t.newArticle}}</a>
        </div></div>
        <div id="banner" data-live>{{>banner}}</div>
        <div id="list" data-live>{{>list}}</div>
        <div id="list-end" data-live>{{>list-end}}</div>
        """#,
        "banner": #"""
        {{#banner}}<div class="notice" role="status"><p class="strong">{{t.showsStored}}</p><p>{{.}}</p></div>\#
        {{/banner}}
        """#,
        "list": #"""
        {{#isFilled}}
        <ol class="rows">
        {{#rows}}
        <li><a href="{{path}}"><span class="row-title">{{title}}</span>
        <span class="row-facts">{{#author}}<span>{{.}}</span>{{/author}}\#
        {{#date}}<time datetime="{{machine}}">{{text}}</time>{{/date}}</span></a></li>
        {{/rows}}
        </ol>
        {{/isFilled}}
        {{#isLoading}}<p class="waiting" role="status">{{t.loading}}</p>{{/isLoading}}
        {{#isEmpty}}<p class="empty-text">{{t.noArticles}}</p>{{/isEmpty}}
        {{#error}}
        <div class="failure">{{>error}}
        <form method="post" action="/articles/load">\#
        {{>form-token}}<button id="load" class="primary">{{t.retry}}</button></form></div>
        {{/error}}
        {{#isIdle}}
        <form method="post" action="/articles/load">\#
        {{>form-token}}<button id="load" class="primary">{{t.load}}</button></form>
        {{/isIdle}}
        """#,
        "list-end": #"""
        {{#moreError}}{{>error}}{{/moreError}}
        {{#hasMore}}
        <form method="post" action="/articles/more" class="more">\#
        {{>form-token}}<button id="more"{{#isLoadingMore}} \#
        aria-disabled="true"{{/isLoadingMore}}>{{moreText}}</button></form>
        {{/hasMore}}
        {{#isComplete}}<p class="end">{{t.endOfList}}</p>{{/isComplete}}
        """#,
        "article": #"""
        <p class="back"><a id="back" href="/articles">{{t.articles}}</a></p>
        <article id="article" data-live>{{>article-state}}</article>
        """#,
        "article-state": #"""
        {{#article}}
        <h1>{{title}}</h1>
        <p class="facts">{{#author}}<span>{{.}}</span>{{/author}}\#
        {{#date}}<time datetime="{{machine}}">{{text}}</time>{{/date}}</p>
        <div class="text">{{#paragraphs}}<p>{{.}}</p>{{/paragraphs}}</div>
        {{/article}}
        {{#isLoading}}<p class="waiting" role="status">{{t.loading}}</p>{{/isLoading}}
        {{#isMissing}}<h1>{{t.articleMissing}}</h1><p class="notice" role="status">{{t.errorNotFound}}</p>{{/isMissing}}
        {{^isMissing}}{{#error}}
        <div class="failure">{{>error}}
        <form method="post" action="{{refreshPath}}">\#
        {{>form-token}}<button id="retry" class="primary">{{t.retry}}</button></form></div>
        {{/error}}{{/isMissing}}
        {{#isLoaded}}<form method="post" action="{{refreshPath}}">\#
        {{>form-token}}<button id="retry" class="quiet">{{t.refresh}}</button></form>{{/isLoaded}}
        """#,
    ]

    static let account = [
        "account": #"""
        <p class="back"><a id="back" href="/articles">{{t.articles}}</a></p>
        <h1>{{t.account}}</h1>
        <div id="person" data-live>{{>person}}</div>
        <div id="account-state" data-live>{{>account-state}}</div>
        """#,
        "person": #"""
        {{#person}}<div class="person">{{#photo}}<img src="{{.}}" alt="" width="72" height="72">{{/photo}}{{^photo}}\#
        <span class="empty" aria-hidden="true"></span>{{/photo}}<p class="strong">{{name}}</p></div>{{/person}}
        """#,
        "account-state": #"""
        {{#isKept}}<div class="notice"><p class="done" role="status">{{t.accountKept}}</p></div>{{/isKept}}
        {{^isKept}}<div class="card">
        <p class="lead">{{t.accountHint}}</p>
        {{#error}}{{>error}}{{/error}}
        <form method="post" action="/account/upgrade" class="buttons{{^isSigningIn}} providers{{/isSigningIn}}">
        {{>form-token}}
        {{#isSigningIn}}
        <p class="waiting" role="status">{{t.signingIn}}</p>
        <button class="quiet" formaction="/account/cancel">{{t.cancel}}</button>
        {{/isSigningIn}}
        {{^isSigningIn}}{{#providers}}\#
        <button id="provider-{{name}}" name="provider" value="{{name}}">{{label}}</button>{{/providers}}{{/isSigningIn}}
        </form></div>{{/isKept}}
        """#,
    ]

    /// The line break after `<textarea>` is no part of the text, and one that the text begins with is.
    static let compose = [
        "compose": #"""
        <p class="back"><a id="back" href="/articles">{{t.articles}}</a></p>
        <h1>{{t.newArticle}}</h1>
        <div id="compose-error" data-live>{{>compose-error}}</div>
        <form id="compose" class="stack" method="post" action="/compose/publish" data-draft="/compose/draft">
        {{>form-token}}
        <input type="hidden" name="draft" value="{{form}}">
        <div class="field"><label for="title">{{t.title}}</label>
        <input id="title" name="title" value="{{title}}" required pattern=".*\S.*" autocomplete="off"></div>
        <div class="field"><label for="text">{{t.text}}</label>
        <textarea id="text" name="text" rows="12" required>
        {{text}}</textarea></div>
        <div id="compose-state" data-live>{{>compose-state}}</div>
        </form>
        """#,
        "compose-error": #"""
        {{#error}}<div class="notice" role="alert"><p class="strong">{{t.publishFailed}} {{t.draftKept}}</p>\#
        <p class="error">{{.}}</p></div>{{/error}}
        """#,
        "compose-state": #"""
        {{#isPublishing}}
        <p class="waiting" role="status">{{t.publishing}}</p>
        <button id="publish" class="quiet" formaction="/compose/cancel" formnovalidate>{{t.cancel}}</button>
        {{/isPublishing}}
        {{^isPublishing}}<button id="publish" class="primary">{{t.publish}}</button>{{/isPublishing}}
        """#,
    ]
}
