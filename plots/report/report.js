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

  // The table of all cells: filters, search, what to show.
  var cells = document.getElementById("cells"), form = document.querySelector(".filters");
  if (cells && form) {
    var at = { mechanism: 0, dataset: 1, epsilon: 2, variant: 3, model: 4 };
    var selects = form.querySelectorAll("[data-filter]"), search = form.querySelector("[data-search]");
    var idle = form.querySelector("[data-idle]"), all = form.querySelector("[data-all]"), count = form.querySelector("output");
    var names = Array.prototype.map.call(cells.tBodies[0].rows, function (r) {
      return r.cells[0].firstChild.nodeValue.trim(); // without the tag
    });
    Array.prototype.forEach.call(cells.tBodies[0].rows, function (r, i) { r.setAttribute("data-name", names[i]); });
    var update = function () {
      var wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0, rows = cells.tBodies[0].rows;
      Array.prototype.forEach.call(rows, function (r) {
        var keep = idle.checked || !r.classList.contains("idle");
        Array.prototype.forEach.call(selects, function (s) {
          var key = s.getAttribute("data-filter"), value = key === "mechanism" ? r.getAttribute("data-name") : text(r, at[key]);
          if (s.value && value !== s.value) keep = false;
        });
        var whole = r.textContent.toLowerCase();
        wanted.forEach(function (w) { if (whole.indexOf(w) < 0) keep = false; });
        r.hidden = !keep;
        if (keep) shown++;
      });
      cells.classList.toggle("short", !all.checked);
      count.textContent = shown + " of " + rows.length + " rows";
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", function (e) { e.preventDefault(); });
    form.hidden = false;
    update();
  }

  // Figures: values under the pointer, series on and off, downloads.
  function save(name, data, type) {
    var a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([data], { type: type }));
    a.download = name;
    a.click();
    setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
  }
  function quoted(s) { return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s; }
  function csv(svg) {
    var fields = ["panel", "series", "x", "y", "low", "high"], lines = [fields.join(",")];
    svg.querySelectorAll(".point").forEach(function (p) {
      lines.push(fields.map(function (f) { return quoted((p.getAttribute("data-" + f) || "").replace(/\u2212/g, "-")); }).join(","));
    });
    return lines.join("\n") + "\n";
  }
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll("figure").forEach(function (figure) {
    var svg = figure.querySelector("svg"), name = figure.id.replace(/^fig-/, "");
    if (!svg) return;
    svg.classList.add("live");
    svg.querySelectorAll(".legend").forEach(function (entry) {
      var series = entry.getAttribute("data-series");
      var members = Array.prototype.filter.call(svg.querySelectorAll(".series"), function (g) { return g.getAttribute("data-series") === series; });
      if (!members.length) return;
      entry.setAttribute("role", "button");
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("aria-pressed", "true");
      entry.setAttribute("aria-label", "show " + series);
      var toggle = function () {
        var on = entry.getAttribute("aria-pressed") !== "true";
        entry.setAttribute("aria-pressed", on);
        members.forEach(function (g) { g.style.display = on ? "" : "none"; });
      };
      entry.addEventListener("click", toggle);
      entry.addEventListener("keydown", function (e) { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(); } });
    });
    svg.addEventListener("pointerover", function (e) {
      var p = e.target.closest(".point"), title = p && p.querySelector("title");
      tip.hidden = !title;
      if (!title) return;
      tip.textContent = title.textContent;
      tip.style.left = Math.max(0, Math.min(e.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = e.pageY + 14 + "px";
    });
    svg.addEventListener("pointerleave", function () { tip.hidden = true; });
    var tools = document.createElement("div");
    tools.className = "tools";
    var add = function (label, act) {
      var b = document.createElement("button");
      b.type = "button";
      b.textContent = label;
      b.setAttribute("aria-label", "Download " + name + " as " + label);
      b.addEventListener("click", act);
      tools.appendChild(b);
    };
    var source = function () { return new XMLSerializer().serializeToString(svg); };
    add("SVG", function () { save(name + ".svg", source(), "image/svg+xml"); });
    add("PNG", function () {
      var box = svg.viewBox.baseVal, scale = 4, image = new Image();
      image.onload = function () {
        var canvas = document.createElement("canvas");
        canvas.width = box.width * scale;
        canvas.height = box.height * scale;
        var g = canvas.getContext("2d");
        g.fillStyle = "#fff";
        g.fillRect(0, 0, canvas.width, canvas.height);
        g.drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(function (b) { save(name + ".png", b, "image/png"); });
      };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source());
    });
    if (svg.querySelector(".point")) add("CSV", function () { save(name + ".csv", csv(svg), "text/csv"); });
    figure.querySelector(".paper").after(tools);
  });
})();
