/// The style sheet and the script of the page.
extension ReportPage {
    /// Colors are chosen for a contrast of at least 4.5 to 1 of text, and 3 to 1 of bars.
    static let style = """
        :root {
          --ground: #fbfbfa; --surface: #ffffff; --line: #e2e1dd; --text: #1c1c1a; --faint: #5f5e59; --accent: #1d5fa8;
          --failing: #b9770e; --waiting: #a3a19a; --succeeding: #2a7d4f; --refresh: #7a3fb5; --band: #7a3fb533;
          --yes: #1f6b41; --no: #a62b1f;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #161614; --surface: #1f1f1c; --line: #383731; --text: #edece6; --faint: #a9a79d;
            --accent: #8cbcf0; --failing: #e0a33a; --waiting: #73716a; --succeeding: #56b984; --refresh: #bb8cf0;
            --band: #bb8cf040; --yes: #6fcf9b; --no: #f28b7d;
          }
        }
        * { box-sizing: border-box; }
        html { scroll-padding-top: 1rem; }
        body {
          margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 3rem; background: var(--ground); color: var(--text);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
          overflow-wrap: anywhere;
        }
        h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
        h2 { font-size: 1.05rem; margin: 2.25rem 0 0.75rem; }
        h3 { font-size: 0.85rem; margin: 0.75rem 0 0.25rem; }
        p { margin: 0.25rem 0; }
        a { color: var(--accent); }
        footer { margin-top: 2.5rem; color: var(--faint); font-size: 0.85rem; }
        .sub { color: var(--faint); font-size: 0.88rem; }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.6rem, 1fr)); gap: 0.6rem;
          margin: 1.25rem 0 0; }
        .figures div { background: var(--surface); border: 1px solid var(--line); border-radius: 8px;
          padding: 0.55rem 0.75rem; display: flex; flex-direction: column-reverse; }
        .figures dt { color: var(--faint); font-size: 0.8rem; }
        .figures dd { margin: 0; font-size: 1.3rem; font-weight: 600; white-space: nowrap;
          font-variant-numeric: tabular-nums; }
        .claims { list-style: none; margin: 0; padding: 0; background: var(--surface); border: 1px solid var(--line);
          border-radius: 8px; }
        .claims li { display: flex; gap: 0.9rem; align-items: baseline; padding: 0.55rem 0.9rem; }
        .claims li + li { border-top: 1px solid var(--line); }
        .claims p { margin: 0; }
        .verdict { font-size: 1.1rem; font-weight: 600; margin: 0.9rem 0 0; }
        .mark { flex: none; width: 3rem; font-size: 0.85rem; font-weight: 700; }
        .yes { color: var(--yes); }
        .no { color: var(--no); }
        .axis { display: flex; justify-content: space-between; color: var(--faint); font-size: 0.8rem;
          font-variant-numeric: tabular-nums; }
        .overview { display: block; width: 100%; background: var(--surface); border: 1px solid var(--line);
          border-radius: 4px; }
        rect.failing { fill: var(--failing); }
        rect.waiting { fill: var(--waiting); }
        rect.succeeding { fill: var(--succeeding); }
        rect.refresh { fill: var(--refresh); }
        rect.band { fill: var(--band); }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; padding: 0; margin: 0.6rem 0 0;
          color: var(--faint); font-size: 0.85rem; }
        .legend svg { width: 0.8rem; height: 0.8rem; margin-right: 0.4rem; vertical-align: -0.08rem; }
        .filters { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; }
        .filters legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .filters input[type=radio] { position: absolute; opacity: 0; width: 1px; height: 1px; }
        .filters label { border: 1px solid var(--line); background: var(--surface); border-radius: 999px;
          padding: 0.25rem 0.8rem; cursor: pointer; font-size: 0.9rem; }
        .filters label span { color: var(--faint); font-variant-numeric: tabular-nums; }
        .filters input:checked + label { border-color: var(--text); background: var(--text); color: var(--ground); }
        .filters input:checked + label span { color: var(--ground); }
        .filters input:focus-visible + label, summary:focus-visible, a:focus-visible,
        [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        body:has(#only-refused:checked) .call:not(.refused), body:has(#only-refresh:checked) .call:not(.refresh),
        body:has(#only-retried:checked) .call:not(.retried), body:has(#only-failed:checked) .call:not(.failed) { display: none; }
        .calls { border: 1px solid var(--line); border-radius: 8px; background: var(--surface); margin-top: 0.75rem; }
        .call + .call { border-top: 1px solid var(--line); }
        .call > summary { display: grid; grid-template-columns: minmax(9rem, 17rem) 1fr 6.5rem 4.5rem; gap: 0.9rem;
          align-items: center; padding: 0.3rem 0.9rem; cursor: pointer; list-style: none; font-size: 0.9rem;
          font-variant-numeric: tabular-nums; }
        .call > summary::-webkit-details-marker { display: none; }
        .call > summary:hover { background: var(--ground); }
        .call > summary svg { width: 100%; height: 0.65rem; }
        .call.refresh > summary { box-shadow: inset 4px 0 0 var(--refresh); font-weight: 600; }
        .call.failed > summary .outcome { color: var(--no); }
        .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .name b { font-weight: 600; font-size: 0.8em; letter-spacing: 0.03em; margin-right: 0.3em; }
        .time { text-align: right; color: var(--faint); }
        .body { padding: 0.4rem 0.9rem 0.9rem; border-top: 1px dashed var(--line); background: var(--ground);
          font-size: 0.9rem; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 0.4rem 0; }
        th, td { text-align: left; padding: 0.2rem 0.9rem 0.2rem 0; white-space: nowrap; font-weight: 400; }
        thead th { color: var(--faint); border-bottom: 1px solid var(--line); }
        pre { margin: 0.25rem 0; padding: 0.5rem 0.7rem; background: var(--surface); border: 1px solid var(--line);
          border-radius: 6px; white-space: pre-wrap; max-height: 20rem; overflow: auto;
          font: 0.8rem/1.45 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
        .exchange > summary { cursor: pointer; color: var(--accent); padding: 0.15rem 0; }
        @media (max-width: 44rem) {
          body { padding: 1rem 0.75rem 2rem; }
          .call > summary { grid-template-columns: 1fr auto auto; gap: 0.15rem 0.75rem; padding: 0.45rem 0.75rem; }
          .call > summary svg { grid-column: 1 / -1; grid-row: 2; }
        }
        @media print { .filters { display: none; } }

        """

    /// What the page can do beyond reading: count what a filter shows, and open the request that a link names.
    static let script = """
        "use strict";
        const calls = [...document.querySelectorAll(".call")];
        function update() {
          const shown = calls.filter(call => call.offsetParent !== null).length;
          document.getElementById("count").textContent = shown + " of " + calls.length + " requests";
        }
        function openTarget() {
          const call = /^#call-[0-9]+$/.test(location.hash) && document.querySelector(location.hash);
          if (!call) { return; }
          document.getElementById("only-all").checked = true;
          update();
          call.open = true;
          call.scrollIntoView();
          call.querySelector("summary").focus();
        }
        document.querySelector(".filters").addEventListener("input", update);
        addEventListener("hashchange", openTarget);
        update();
        openTarget();

        """
}
