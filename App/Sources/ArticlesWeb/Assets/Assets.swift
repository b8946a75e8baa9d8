/// The files of the pages, in the program: no bundle has to be found.
enum Assets {
    /// The icon of the pages.
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5b62"/>
        <path d="M9 10h14M9 16h14M9 22h9" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>
        """#

    /// Fluid, for a phone and a large screen, in light and dark.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --paper: #fbfaf7; --card: #ffffff; --ink: #211f1b; --soft: #655f55; --line: #e4dfd5;
          --accent: #0f5b62; --on-accent: #ffffff; --tint: #e9f1f0;
          --bad: #9b2c1d; --bad-tint: #fbeeea; --field-line: #8d867a;
          --serif: "Iowan Old Style", Charter, "Source Serif 4", "Noto Serif", Georgia, "Noto Serif CJK KR", serif;
          --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK KR", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #171614; --card: #201e1b; --ink: #ece8e0; --soft: #aca597; --line: #37332d;
            --accent: #8acdd1; --on-accent: #0c2326; --tint: #1d2b2c;
            --bad: #f2a797; --bad-tint: #34201b; --field-line: #857e72;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; scrollbar-gutter: stable; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 var(--sans);
          word-break: keep-all; overflow-wrap: anywhere; }
        h1, h2, p, ol { margin: 0; padding: 0; }
        h1 { font: 600 clamp(1.75rem, 1.3rem + 2vw, 2.4rem)/1.2 var(--serif); letter-spacing: -0.01em;
          text-wrap: balance; }
        h2 { font: 600 1.1875rem/1.35 var(--serif); }
        a { color: var(--accent); text-underline-offset: 0.2em; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 6px; }
        main:focus { outline: none; }

        .skip { position: absolute; left: 1rem; top: -6rem; padding: 0.6rem 1rem; background: var(--card);
          border-radius: 6px; z-index: 2; }
        .skip:focus { top: 0.75rem; }
        header { border-bottom: 1px solid var(--line); }
        .bar, main, .lost:not(:empty) { max-width: 44rem; margin: 0 auto; padding: 0 1.25rem; }
        .bar { display: flex; align-items: center; justify-content: space-between; gap: 1rem; min-height: 4rem; }
        .brand { flex: none; white-space: nowrap; font: 600 1.1875rem/1.4 var(--serif); color: var(--ink);
          text-decoration: none;
          padding: 0.4rem 0 0.4rem 2.25rem; background: url("/icon.svg") left center / 1.5rem no-repeat; }
        .user { display: flex; align-items: center; gap: 0.9rem; min-width: 0; }
        .name { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .user form { flex: none; }
        a.name { padding: 0.4rem 0; text-decoration: none; }
        a.name:hover { text-decoration: underline; }
        .lead { margin-bottom: 1.1rem; }
        main { padding-top: 2.5rem; padding-bottom: 5rem; }
        .lost:not(:empty) { margin-top: 1rem; color: var(--bad); }

        button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem;
          padding: 0.5rem 1.15rem; font: 500 1rem/1.3 var(--sans); color: var(--accent); background: transparent;
          border: 1px solid var(--field-line); border-radius: 8px; text-decoration: none; cursor: pointer; }
        button:hover, .button:hover { border-color: var(--accent); background: var(--tint); }
        .primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .primary:hover { background: var(--accent); filter: brightness(1.1); }
        .quiet { border-color: transparent; padding-inline: 0.8rem; }
        .user .quiet { margin-right: -0.8rem; }
        article .quiet { margin-left: -0.8rem; }
        [aria-disabled="true"] { color: var(--soft); cursor: default; }
        .providers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); }
        .buttons:not(.providers) { display: flex; flex-wrap: wrap; align-items: center; }
        .buttons { gap: 0.6rem; }

        .title { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between;
          gap: 0.75rem 1.5rem; margin-bottom: 1.25rem; }
        .rows { list-style: none; border-top: 1px solid var(--line); }
        .rows li { border-bottom: 1px solid var(--line); }
        .rows a { display: block; padding: 1.1rem 0; color: inherit; text-decoration: none; }
        .rows a:hover .row-title { color: var(--accent); text-decoration: underline; }
        .row-title { display: block; font: 600 1.1875rem/1.4 var(--serif); }
        .row-facts, .facts { display: flex; flex-wrap: wrap; color: var(--soft); font-size: 0.9375rem; }
        .row-facts > :not(:first-child)::before, .facts > :not(:first-child)::before {
          content: "·"; margin: 0 0.45rem; }
        .more { display: flex; justify-content: center; margin-top: 1.75rem; }
        .end, .empty-text { margin-top: 1.75rem; text-align: center; color: var(--soft); font-size: 0.9375rem; }

        .back { margin-bottom: 1.25rem; }
        .back a { display: inline-block; padding: 0.4rem 0; text-decoration: none; }
        .back a::before { content: "← "; }
        .back a:hover { text-decoration: underline; }
        .facts { margin-top: 0.75rem; }
        .text { margin: 2rem 0; font: 1.1875rem/1.7 var(--serif); }
        .text p { white-space: pre-line; }
        .text p + p { margin-top: 1.1em; }

        .card { margin-top: 1.75rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--line);
          border-radius: 14px; }
        .card h2, h1 + .stack, .card + .card { margin-bottom: 1.1rem; }
        .card + .card { margin-top: 1.25rem; }
        .stack { margin-top: 1.5rem; }
        .field { margin-bottom: 1.25rem; }
        label { display: block; margin-bottom: 0.35rem; font-weight: 500; }
        input:not([type="hidden"]):not([type="file"]), textarea { width: 100%; padding: 0.65rem 0.8rem; color: inherit;
          font: inherit; background: var(--card); border: 1px solid var(--field-line); border-radius: 8px; }
        textarea { min-height: 14rem; resize: vertical; font: 1.125rem/1.65 var(--serif); }
        input:focus-visible, textarea:focus-visible { outline-offset: 0; }
        input[type="file"] { max-width: 100%; font: inherit; font-size: 0.9375rem; color: var(--soft); }
        ::file-selector-button { min-height: 2.5rem; margin-right: 0.75rem; padding: 0.4rem 0.9rem;
          color: var(--accent); font: 500 0.9375rem/1.3 var(--sans); background: transparent;
          border: 1px solid var(--field-line); border-radius: 8px; cursor: pointer; }
        .photo, .person { display: flex; gap: 1.1rem; align-items: flex-start; }
        .person { align-items: center; margin-top: 1.5rem; }
        .person p { min-width: 0; }
        .photo > :last-child { min-width: 0; flex: 1; }
        .photo img, .photo .empty, .person img, .person .empty { flex: none; display: block; width: 4.5rem;
          height: 4.5rem; border-radius: 50%;
          object-fit: cover; background: var(--tint); }
        .hint { margin-top: 0.35rem; color: var(--soft); font-size: 0.9375rem; }

        .alert { margin-bottom: 2.25rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--accent);
          border-top-width: 5px; border-radius: 14px; }
        .alert p { margin-top: 0.5rem; }
        .alert button { margin-top: 1.1rem; }
        .notice { margin: 1.25rem 0; padding: 0.9rem 1.1rem; background: var(--tint); border-radius: 10px; }
        .strong { font-weight: 600; }
        .error { color: var(--bad); }
        .failure { margin: 1.5rem 0; padding: 1.25rem 1.5rem; background: var(--bad-tint); border-radius: 14px; }
        .failure button { margin-top: 0.9rem; }
        .field .error, #guest-state > .error, #social-state > .error { margin: 0.35rem 0 0.9rem; }
        .done { margin-top: 0.35rem; color: var(--accent); font-size: 0.9375rem; }
        .done::before { content: "✓ "; }
        .waiting { color: var(--soft); }
        .waiting::after { content: " …"; }
        #list > .waiting { padding: 1.25rem 0; }
        .progress { margin-bottom: 0.9rem; }
        .progress label { font-variant-numeric: tabular-nums; }
        progress { display: block; width: 100%; height: 0.6rem; appearance: none; border: 0; border-radius: 99px;
          overflow: hidden; background: var(--line); }
        progress::-webkit-progress-bar { background: var(--line); }
        progress::-webkit-progress-value { background: var(--accent); border-radius: 99px; }
        progress::-moz-progress-bar { background: var(--accent); }
        .splash { display: grid; justify-items: center; gap: 1rem; padding-top: 18vh; text-align: center; }
        .splash h1 { font-size: 2.6rem; }
        @media (max-width: 30rem) { .title .buttons { margin-left: -0.8rem; } }
        @media (prefers-reduced-motion: no-preference) {
          .waiting { animation: breathe 1.6s ease-in-out infinite alternate; }
          @keyframes breathe { to { opacity: 0.72; } }
          progress::-webkit-progress-value { transition: inline-size 0.2s; }
        }
        """#
}
