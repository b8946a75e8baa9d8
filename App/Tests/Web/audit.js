// What is wrong with the page that is shown: a list of texts. Evaluated in the page by the check.
(() => {
  const problems = [];
  const visible = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const name = (e) => `${e.localName}${e.id ? "#" + e.id : ""} “${(e.textContent || "").trim().slice(0, 40)}”`;

  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) problems.push(`two elements are #${id}`);
  for (const [landmark, count] of [["main", 1], ["header", 1], ["h1", 1]]) {
    const found = document.querySelectorAll(landmark).length;
    if (found !== count) problems.push(`${found} × <${landmark}>`);
  }
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title.trim()) problems.push("no title");
  for (const field of document.querySelectorAll("input:not([type=hidden]), textarea, select, progress")) {
    if (!field.labels.length || !field.labels[0].textContent.trim()) problems.push(`no label: ${name(field)}`);
  }
  for (const control of document.querySelectorAll("button, a")) {
    if (!(control.textContent || "").trim()) problems.push(`no name: ${name(control)}`);
    const box = control.getBoundingClientRect();
    if (visible(control) && box.height < 24 && box.top >= 0) problems.push(`${box.height} px high: ${name(control)}`);
  }
  for (const image of document.images) {
    if (!image.hasAttribute("alt")) problems.push("no alternative text: an image");
    if (image.complete && !image.naturalWidth) problems.push(`an image was not loaded: ${image.src}`);
  }
  for (const attribute of ["aria-labelledby", "aria-describedby"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute).split(" ")) {
        if (!document.getElementById(id)) problems.push(`${attribute} names #${id}, which does not exist`);
      }
    }
  }
  // A Korean word stays on one line where it has room (word-break: keep-all), and so does the name of the program.
  const lines = (range) => new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const node = nodes.currentNode;
    if (!visible(node.parentElement)) continue;
    for (const word of node.data.matchAll(/\S*[가-힣]\S*/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const width = [...range.getClientRects()].reduce((sum, box) => sum + box.width, 0);
      if (lines(range) > 1 && width < node.parentElement.clientWidth) problems.push(`a word is broken: ${word[0]}`);
    }
  }
  const brand = document.createRange();
  brand.selectNodeContents(document.querySelector(".brand"));
  if (lines(brand) > 1) problems.push("the name of the program is on two lines");
  for (const group of document.querySelectorAll(".providers")) {
    const widths = new Set([...group.querySelectorAll("button")].map((e) => Math.round(e.getBoundingClientRect().width)));
    if (widths.size > 1) problems.push(`buttons of different widths: ${[...widths].join(", ")} px`);
  }

  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push(`${root.scrollWidth} px wide in ${root.clientWidth} px`);

  // Contrast (WCAG 2.2, 1.4.3).
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, bottom) => [0, 1, 2].map((i) => top[i] * top[3] + bottom[i] * (1 - top[3])).concat(1);
  const background = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduceRight((below, layer) => over(layer, below), isDark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  let lowest = 21;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.textContent.trim() && visible(element) && element.localName !== "script") texts.add(element);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), textarea")) texts.add(field);
  for (const element of texts) {
    const style = getComputedStyle(element);
    const ground = background(element);
    const ratio = contrast(over(rgba(style.color), ground), ground);
    lowest = Math.min(lowest, ratio);
    if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(2)}: ${name(element)}`);
  }
  // Borders of fields (WCAG 2.2, 1.4.11).
  for (const field of document.querySelectorAll("input:not([type=hidden]):not([type=file]), textarea")) {
    const ratio = contrast(rgba(getComputedStyle(field).borderTopColor), background(field.parentElement));
    if (ratio < 3) problems.push(`contrast of the border ${ratio.toFixed(2)}: ${name(field)}`);
  }
  return { problems, lowest, texts: texts.size };
})()
