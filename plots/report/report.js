"use strict";
(function () {
  // The number a cell starts with, or null: "78.3 ± 1.2" sorts as 78.3.
  function numberIn(text) {
    var m = text.replace(/\u2212/g, "-").replace(/,/g, "").match(/^[<>≤≥=\s]*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(k|M|G)?/);
    if (!m) return null;
    return parseFloat(m[1]) * ({ k: 1e3, M: 1e6, G: 1e9 }[m[2]] || 1);
  }
  function text(row, i) {
    return row.cells[i] ? row.cells[i].textContent.trim() : "";
  }
  function missing(s) {
    return s === "" || s === "–" || s === "-" || s === "—" || s.indexOf("undefined") === 0;
  }
  function sort(table, i, direction) {
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (r) {
      var t = text(r, i);
      return { row: r, text: t, number: numberIn(t) };
    });
    rows.sort(function (a, b) {
      if (missing(a.text) || missing(b.text)) return missing(a.text) - missing(b.text); // missing ones last, either way
      var c = a.number !== null && b.number !== null ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true });
      return direction * c;
    });
    rows.forEach(function (r) { body.appendChild(r.row); });
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
    Array.prototype.forEach.call(heads, function (th, i) {
      // A column of words reads from the left.
      var cells = Array.prototype.map.call(table.tBodies[0].rows, function (r) { return text(r, i); }).filter(function (t) { return !missing(t); });
      if (cells.length && cells.every(function (t) { return numberIn(t) === null; })) {
        th.classList.add("text");
        Array.prototype.forEach.call(table.tBodies[0].rows, function (r) {
          if (!r.cells[i]) return;
          r.cells[i].classList.add("text");
          if (text(r, i).length > 60) r.cells[i].classList.add("long");
        });
      }
      th.querySelector("button").addEventListener("click", function () {
        var direction = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        Array.prototype.forEach.call(heads, function (h) { h.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        sort(table, i, direction);
      });
    });
  });
})();
