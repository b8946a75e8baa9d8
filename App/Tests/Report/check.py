#!/usr/bin/env python3
"""Checks pages of `articles --report` in a headless browser: structure, contrast, width, keyboard, hostile text.

usage: check.py PAGE... [--pictures FOLDER]
"""

import argparse
import contextlib
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).parent.parent / "Browser"))
from chromium import Chromium  # noqa: E402

# The contrast of each piece of text with the color behind it (WCAG 2.2, 1.4.3). Large text needs 3, other text 4.5.
CONTRAST = """
(() => {
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const parts = color => color.match(/[0-9.]+/g).map(Number);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) { return color; }
      if (color[3] !== 0) { throw new Error("a translucent background"); }
    }
    throw new Error("no background");
  };
  const failures = [];
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE"].includes(element.tagName)) { continue; }
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) { continue; }
    const style = getComputedStyle(element);
    const [first, second] = [parts(style.color), behind(element)].map(luminance).sort((a, b) => b - a);
    const ratio = (first + 0.05) / (second + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    count += 1;
    if (ratio < (isLarge ? 3 : 4.5)) { failures.push(ratio.toFixed(2) + " " + walker.currentNode.data.trim()); }
  }
  // Bars are graphics: 3 (1.4.11).
  for (const bar of document.querySelectorAll(".call rect:not(.waiting)")) {
    const color = parts(getComputedStyle(bar).fill);
    const [first, second] = [color, behind(bar.closest(".call"))].map(luminance).sort((a, b) => b - a);
    if ((first + 0.05) / (second + 0.05) < 3) { failures.push("bar " + bar.getAttribute("class")); }
  }
  return {count, failures: [...new Set(failures)]};
})()
"""

STRUCTURE = """
(() => {
  const problems = [];
  const need = (holds, text) => { if (!holds) { problems.push(text); } };
  const all = selector => [...document.querySelectorAll(selector)];
  need(document.documentElement.lang === "en", "no language");
  need(document.title.length > 3, "no title");
  need(all("h1").length === 1 && all("main").length === 1 && all("header").length === 1, "landmarks");
  need(all("section").every(s => document.getElementById(s.getAttribute("aria-labelledby"))), "unnamed section");
  const ids = all("[id]").map(e => e.id);
  need(new Set(ids).size === ids.length, "an id is used twice");
  const levels = all("h1, h2, h3").map(h => Number(h.tagName[1]));
  need(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), "a heading level is skipped");
  need(all("svg").every(s => s.getAttribute("role") === "img" ? s.getAttribute("aria-label")
    : s.getAttribute("aria-hidden") === "true"), "a picture is neither named nor hidden");
  need(all("input").every(i => i.labels.length || i.getAttribute("aria-label")), "an input has no label");
  need(all("th").every(t => t.scope), "a heading of a table has no scope");
  need(all("a").every(a => document.querySelector(a.getAttribute("href"))), "a link leads nowhere");
  need(all("img, iframe, object, embed, link, base, form").length === 0, "an element that loads or sends");
  need(all("script").length === 1 && all("style").length === 1, "a script or style that is not the page's own");
  need(all("*").every(e => [...e.attributes].every(a => !a.name.startsWith("on") && a.name !== "style")),
    "a handler or a style in an attribute");
  need(all(".call").length > 0 && all(".call").every(c => c.querySelector("summary .outcome").textContent.trim()),
    "a request without an outcome");
  need(all(".call rect").every(r => ["x", "width", "height"].every(n => Number(r.getAttribute(n)) >= 0)),
    "a bar without a place");
  need(window.hostile === undefined, "a hostile text was run");
  return problems;
})()
"""

FILTERS = """
(() => {
  const shown = () => [...document.querySelectorAll(".call")].filter(c => c.offsetParent !== null).length;
  const problems = [];
  for (const input of document.querySelectorAll("input[name=filter]")) {
    input.click();
    const label = Number(input.labels[0].querySelector("span").textContent);
    if (shown() !== label) { problems.push(input.value + " shows " + shown() + " of " + label); }
  }
  document.getElementById("only-all").click();
  return problems;
})()
"""


class Check:
    """The checks of one page."""

    def __init__(self, tab, page):
        self.tab = tab
        self.page = page
        self.url = pathlib.Path(page).resolve().as_uri()
        self.failures = 0

    def need(self, problems, name):
        problems = problems if isinstance(problems, list) else ([] if problems else [name])
        for problem in problems:
            print(f"  FAILS  {name}: {problem}")
        self.failures += len(problems)
        if not problems:
            print(f"  holds  {name}")

    def perform(self, pictures):
        tab = self.tab
        print(self.page)
        tab.problems.clear()
        tab.requests.clear()
        self.look(1200)
        tab.open(self.url)
        self.need(tab.run(STRUCTURE), "structure")
        self.need(tab.run(FILTERS), "each filter shows as many requests as it says")
        tab.run("document.querySelectorAll('details').forEach(d => d.open = d.closest('.call').id.length < 7)")
        for scheme in ("light", "dark"):
            self.look(1200, scheme)
            result = tab.run(CONTRAST)
            self.need(result["failures"], f"contrast of {result['count']} texts, {scheme}")
        for width in (360, 768, 1200):
            self.look(width, "dark")
            fits = tab.run("document.documentElement.scrollWidth <= innerWidth")
            self.need(fits, f"no horizontal scrolling at {width} px")
        tab.run("document.querySelectorAll('details').forEach(d => d.open = false)")
        self.need(self.keyboard(), "keyboard: open a request after the filters")
        self.need(self.without_script(), "readable without script")
        self.need(tab.problems + [f"loads {url}" for url in tab.requests], "no error in the console, and nothing is loaded")
        if pictures:
            self.take_pictures(pictures)
        return self.failures

    def look(self, width, scheme="light", height=900):
        # Not as a phone, which would zoom out of a page that is too wide.
        self.tab.look(width, height, scheme == "dark", mobile=False)

    def keyboard(self):
        tab = self.tab
        tab.run("document.getElementById('only-all').focus()")
        tab.key("Tab")
        if tab.run("document.activeElement.tagName") != "SUMMARY":
            return ["the first request is not after the filters"]
        tab.key("Enter")
        return tab.run("document.activeElement.parentElement.open")

    def without_script(self):
        tab = self.tab
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.open(self.url)
        tree = tab.call("Accessibility.getFullAXTree")["nodes"]
        tab.call("Emulation.setScriptExecutionDisabled", value=False)
        roles = {node.get("role", {}).get("value") for node in tree}
        wanted = {"heading", "radio", "main", "DisclosureTriangle"}
        return sorted(f"no {role}" for role in wanted - roles)

    def take_pictures(self, folder):
        tab = self.tab
        name = pathlib.Path(self.page).stem
        tab.open(self.url)
        for width, scheme in ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")):
            self.look(width, scheme, height=1400)
            tab.picture(os.path.join(folder, f"{name}-{width}-{scheme}.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--pictures", help="a folder for pictures of the pages")
    arguments = parser.parse_args()
    with contextlib.closing(Chromium()) as browser:
        tab = browser.tab()
        failures = sum(Check(tab, page).perform(arguments.pictures) for page in arguments.pages)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
