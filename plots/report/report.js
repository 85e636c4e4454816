"use strict";
// Highlights a mechanism in every picture and table: all that has its data-s gets the class on.
(function () {
  var all = function (selector) { return Array.prototype.slice.call(document.querySelectorAll(selector)); };
  var picked = {};
  function toggle(name) {
    picked[name] = !picked[name];
    var some = Object.keys(picked).some(function (n) { return picked[n]; });
    document.body.classList.toggle("picked", some);
    all("[data-s]").forEach(function (e) {
      var on = !!picked[e.getAttribute("data-s")];
      e.classList.toggle("on", on);
      if (e.tagName === "BUTTON") e.setAttribute("aria-pressed", on);
      if (on && e.tagName === "g") e.parentNode.appendChild(e); // above the others
    });
  }
  all("button[data-s]").forEach(function (b) {
    b.addEventListener("click", function () { toggle(b.getAttribute("data-s")); });
  });
})();
