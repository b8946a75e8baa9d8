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
