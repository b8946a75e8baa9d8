import ArticlesWeb

/// The templates of the page of `--report`.
enum ReportTemplates {
    /// The compiled templates.
    static let library = MarkupTemplates([
        "page": page, "overview": overview, "claims": claims, "requests": requests, "call": call,
        "attempts": attempts, "exchange": exchange,
        "bar": ##"<rect class="{{kind}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"/>"##,
    ])

    private static let page = ##"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="{{policy}}">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <meta name="color-scheme" content="light dark">
        <title>{{title}}: {{callCount}} requests</title>
        <style>{{{style}}}</style>
        </head>
        <body>
        <header>
        <h1>{{title}}</h1>
        <p class="sub">{{baseURL}}, {{startedAt}}</p>
        {{#verdict}}<p class="verdict {{kind}}">{{text}}</p>{{/verdict}}
        <dl class="figures">{{#figures}}<div><dt>{{name}}</dt><dd>{{value}}</dd></div>{{/figures}}</dl>
        </header>
        <main>
        {{#overview}}{{>overview}}{{/overview}}
        {{#verdict}}{{>claims}}{{/verdict}}
        {{>requests}}
        </main>
        <footer>Tokens and other secrets are redacted. This page loads nothing.</footer>
        <script>{{{script}}}</script>
        </body>
        </html>

        """##

    private static let overview = ##"""
        <section aria-labelledby="overview"><h2 id="overview">All requests over time</h2>
        <div class="axis" aria-hidden="true">{{#ticks}}<span>{{.}}</span>{{/ticks}}</div>
        <svg class="overview" role="img" aria-label="{{text}}" viewBox="0 0 1000 {{height}}" \##
        preserveAspectRatio="none" height="{{height}}">
        {{#bars}}{{>bar}}{{/bars}}</svg>
        <ul class="legend">{{#legend}}<li><svg viewBox="0 0 12 12" aria-hidden="true">\##
        <rect class="{{kind}}" width="12" height="12" rx="2"/></svg>{{name}}</li>{{/legend}}</ul></section>
        """##

    private static let claims = ##"""
        <section aria-labelledby="claims"><h2 id="claims">Claims</h2>
        <ul class="claims">
        {{#claims}}
        <li><span class="mark {{kind}}">{{mark}}</span><div><p>{{name}}</p><p class="sub">{{observed}}</p></div></li>
        {{/claims}}
        </ul></section>
        """##

    /// The filters are radio buttons whose effect is in the style sheet, so that they work without the script.
    private static let requests = ##"""
        <section aria-labelledby="calls"><h2 id="calls">Requests</h2>
        <fieldset class="filters"><legend>Show</legend>
        {{#filters}}
        <input type="radio" name="filter" id="only-{{id}}" value="{{id}}"{{#first()}} checked{{/first()}}>\##
        <label for="only-{{id}}">{{name}} <span>{{count}}</span></label>
        {{/filters}}
        </fieldset>
        <p id="count" role="status" class="sub"></p>
        <div class="calls">
        {{#calls}}{{>call}}{{/calls}}</div>
        {{#omittedCalls}}<p>{{.}} more requests are not listed.</p>{{/omittedCalls}}\##
        {{#omittedExchanges}}<p>The fields and bodies of {{.}} attempts were not kept.</p>{{/omittedExchanges}}\##
        </section>
        """##

    private static let call = ##"""
        <details class="call{{#kinds}} {{.}}{{/kinds}}" id="call-{{number}}"><summary>\##
        <span class="name"><b>{{method}}</b> {{path}}</span>\##
        <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{{#bars}}{{>bar}}{{/bars}}</svg>\##
        <span class="outcome">{{outcome}}</span><span class="time">{{duration}}</span></summary>
        <div class="body">
        <p>{{number}}. Started {{started}} after the first request{{#bytes}}; {{.}} bytes received{{/bytes}}\##
        {{#servedBy}}; its token was refused; <a href="#call-{{.}}">refresh {{.}}</a> served it{{/servedBy}}\##
        {{#served}}; it served {{.}}{{/served}}{{#problem}}; {{.}}{{/problem}}.</p>
        {{#isSent}}{{>attempts}}{{/isSent}}{{^isSent}}<p>Nothing was sent.</p>{{/isSent}}
        {{#exchanges}}{{>exchange}}{{/exchanges}}
        </div></details>

        """##

    private static let attempts = ##"""
        <div class="scroll" tabindex="0" role="region" aria-label="attempts"><table><thead><tr>\##
        <th scope="col">attempt</th><th scope="col">sent at</th><th scope="col">status</th>\##
        <th scope="col">token</th><th scope="col">connection</th><th scope="col">first byte</th>\##
        <th scope="col">body</th><th scope="col">note</th></tr></thead><tbody>
        {{#attempts}}
        <tr><th scope="row">{{number}}</th>{{#cells}}<td>{{.}}</td>{{/cells}}</tr>
        {{/attempts}}
        </tbody></table></div>
        """##

    private static let exchange = ##"""
        <details class="exchange"><summary>attempt {{number}}: fields and bodies</summary>
        {{#messages}}
        <h3>{{name}}</h3>
        <pre tabindex="0">{{head}}</pre>
        {{#shown}}<pre tabindex="0">{{.}}</pre>{{/shown}}{{#note}}<p class="sub">{{.}}</p>{{/note}}
        {{/messages}}
        </details>

        """##
}
