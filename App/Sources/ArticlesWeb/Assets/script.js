/* Live updates, and forms without a new page. All works without it too.
   What it inserts is what the server has rendered, escaped. */
"use strict";
document.documentElement.classList.add("scripted");
const place = document.body.dataset.location;
let isLeaving = false;
addEventListener("beforeunload", () => { isLeaving = true; });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
if (location.search) history.replaceState(null, "", location.pathname);

function go(path, replaces) {
  if (isLeaving) return;
  isLeaving = true;
  if (replaces) location.replace(path); else location.assign(path);
}

/* Replaces a part of the page if it has changed, and keeps the focus where it is. */
function replace(id, html) {
  const region = document.getElementById(id);
  const next = document.createElement("template");
  next.innerHTML = html;
  if (!region || next.innerHTML === region.innerHTML) return;
  const focused = region.contains(document.activeElement) ? document.activeElement.id : null;
  region.replaceChildren(next.content);
  const first = region.querySelector("[autofocus]");
  if (first) first.focus();
  const news = region.querySelector("[role=alert]");
  if (news) news.scrollIntoView({ block: "nearest" });
  if (focused === null) return;
  const same = focused && document.getElementById(focused);
  const target = same || region.querySelector("button, a, input") || document.getElementById("content");
  target.focus({ preventScroll: true });
}

/* Shows the page of a response: what has changed of this one, or another place. */
async function show(response, follows) {
  if (!response.ok) return location.reload();
  const path = new URL(response.url).pathname;
  if (path !== place) return go(path + (follows ? "?follow" : ""), follows);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const region of page.querySelectorAll("[data-live]")) replace(region.id, region.innerHTML);
}

/* Live updates, while the page is visible: one request at a time, for the newest state. */
const lost = document.getElementById("lost");
let source = null;
let isUpdating = false;
let isChanged = false;
async function update() {
  isChanged = true;
  if (isUpdating) return;
  isUpdating = true;
  while (isChanged && !isLeaving) {
    isChanged = false;
    await fetch(place + "?live").then((response) => show(response, true)).catch(() => {});
  }
  isUpdating = false;
}
function listen() {
  if (source || document.hidden) return;
  source = new EventSource("/events");
  source.onopen = () => { lost.textContent = ""; };
  source.onerror = () => { if (!isLeaving) lost.textContent = lost.dataset.text; };
  source.onmessage = update;
}
function pause() {
  if (source) source.close();
  source = null;
}
document.addEventListener("visibilitychange", () => { if (document.hidden) pause(); else listen(); });
addEventListener("pagehide", pause);
listen();

/* Sends a form, and shows the page of the response. */
async function send(action, fields, type) {
  const body = type === "multipart/form-data" ? fields : new URLSearchParams(fields);
  await show(await fetch(action, { method: "POST", body }), false);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  event.preventDefault();
  if (button && button.getAttribute("aria-disabled") === "true") return;
  const fields = new FormData(form, button);
  if (form.id === "guest" && isPhotoSent) fields.delete("photo");
  const action = button && button.hasAttribute("formaction") ? button.formAction : form.action;
  send(action, fields, form.enctype).catch(() => { lost.textContent = lost.dataset.text; });
});

/* A chosen photo is prepared at once. */
let isPhotoSent = false;
const photo = document.getElementById("photo");
if (photo) photo.addEventListener("change", () => {
  if (!photo.files.length) return;
  const fields = new FormData();
  fields.append("form-token", photo.form.elements["form-token"].value);
  fields.append("photo", photo.files[0]);
  isPhotoSent = true;
  send("/sign-in/photo", fields, "multipart/form-data").catch(() => { isPhotoSent = false; });
});

/* A draft is kept while it is written: one request at a time, with the newest text. */
const editor = document.querySelector("form[data-draft]");
let isKeeping = false;
let isNewer = false;
async function keep() {
  isNewer = true;
  if (isKeeping) return;
  isKeeping = true;
  while (isNewer && !isLeaving) {
    isNewer = false;
    const body = new URLSearchParams(new FormData(editor));
    await fetch(editor.dataset.draft, { method: "POST", body, redirect: "manual" }).catch(() => {});
  }
  isKeeping = false;
}
if (editor) editor.addEventListener("input", keep);
