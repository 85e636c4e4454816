"use strict";
(function () {
  var all = function (selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); };
  var plain = function (name) { return name.replace(/[\s†‡]+$/, "").trim(); };

  // Tables: sorting.
  // The number a cell starts with, or null: "78.3 ± 1.2" sorts as 78.3.
  function numberIn(text) {
    var m = text.replace(/\u2212/g, "-").replace(/,/g, "").match(/^[<>≤≥=\s]*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(k|M|G)?(?![\w-])/);
    return m ? parseFloat(m[1]) * ({ k: 1e3, M: 1e6, G: 1e9 }[m[2]] || 1) : null;
  }
  function text(row, i) { return row.cells[i] ? row.cells[i].textContent.trim() : ""; }
  function missing(s) { return s === "" || s === "–" || s === "-" || s === "—" || s.indexOf("undefined") === 0; }
  function sort(table, i, direction) {
    var body = table.tBodies[0];
    var rows = all("tr", body).map(function (r) { var t = text(r, i); return { row: r, text: t, number: numberIn(t) }; });
    rows.sort(function (a, b) {
      if (missing(a.text) || missing(b.text)) return missing(a.text) - missing(b.text); // missing ones last, either way
      return direction * (a.number !== null && b.number !== null ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true }));
    });
    rows.forEach(function (r) { body.appendChild(r.row); });
  }
  all("table.sortable").forEach(function (table) {
    var heads = all("th", table.tHead.rows[table.tHead.rows.length - 1]), rows = all("tr", table.tBodies[0]);
    heads.forEach(function (th, i) {
      // A column of words reads from the left.
      var words = rows.map(function (r) { return text(r, i); }).filter(function (t) { return !missing(t); });
      if (th.parentNode.cells[0] === th || words.length && words.every(function (t) { return numberIn(t) === null; })) {
        th.classList.add("text");
        rows.forEach(function (r) {
          if (!r.cells[i]) return;
          r.cells[i].classList.add("text");
          if (text(r, i).length > 60) r.cells[i].classList.add("long");
        });
      }
      th.querySelector("button").addEventListener("click", function () {
        var direction = th.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        sort(table, i, direction);
      });
    });
  });
  // Tables are folded on the screen only: print has all of them, as has a page without scripts.
  all("details").forEach(function (d) {
    var before = d.open = false;
    addEventListener("beforeprint", function () { before = d.open; d.open = true; });
    addEventListener("afterprint", function () { d.open = before; });
  });

  // The state of the page, which stands in the address: the axis, filters, and
  // the mechanisms that are highlighted.
  var state = { picked: [] }, apply = [];
  function read() {
    var p = new URLSearchParams(location.hash.indexOf("=") > 0 ? location.hash.slice(1) : "");
    state = { picked: p.getAll("pick") };
    p.forEach(function (v, k) { if (k !== "pick") state[k] = v; });
  }
  function set(key, value) {
    if (value === "" || value === undefined) delete state[key]; else state[key] = value;
    changed();
  }
  function changed() {
    var p = new URLSearchParams();
    Object.keys(state).forEach(function (k) { if (k !== "picked") p.set(k, state[k]); });
    state.picked.forEach(function (name) { p.append("pick", name); });
    var hash = p.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    update();
  }
  function update() { apply.forEach(function (f) { f(); }); }

  // Highlighting, in every figure and table.
  var keys = all("[data-key]"), names = keys.map(function (k) { return k.getAttribute("data-key"); });
  var ofName = {};
  all("tbody tr").forEach(function (row) {
    all("th, td", row).slice(0, 6).some(function (cell) {
      var name = plain((cell.firstChild && cell.firstChild.nodeType === 3 ? cell.firstChild.nodeValue : cell.textContent) || "");
      if (names.indexOf(name) < 0) return false;
      (ofName[name] = ofName[name] || []).push(row);
      return true;
    });
  });
  var series = all(".series[data-s]");
  function toggle(name) {
    var i = state.picked.indexOf(name);
    if (i < 0) state.picked.push(name); else state.picked.splice(i, 1);
    changed();
  }
  keys.forEach(function (k) { k.addEventListener("click", function () { toggle(k.getAttribute("data-key")); }); });
  series.forEach(function (g) {
    var name = plain(g.getAttribute("data-s"));
    if (names.indexOf(name) < 0) return;
    g.style.cursor = "pointer";
    g.addEventListener("click", function () { toggle(name); });
  });
  var clear = document.querySelector("[data-clear]");
  if (clear) clear.addEventListener("click", function () { state.picked = []; changed(); });
  apply.push(function () {
    var on = function (name) { return state.picked.indexOf(name) >= 0; };
    document.body.classList.toggle("picked", state.picked.some(function (name) { return names.indexOf(name) >= 0; }));
    keys.forEach(function (k) { k.setAttribute("aria-pressed", on(k.getAttribute("data-key"))); });
    series.forEach(function (g) {
      var now = on(plain(g.getAttribute("data-s")));
      if (now && !g.classList.contains("on")) g.parentNode.appendChild(g);
      g.classList.toggle("on", now);
    });
    names.forEach(function (name) { (ofName[name] || []).forEach(function (r) { r.classList.toggle("on", on(name)); }); });
    if (clear) clear.hidden = !state.picked.length;
  });

  // The figure: axis, data set, space and classifier.
  var panels = all("#figure > figure");
  all("[data-view]").forEach(function (select) {
    select.form.hidden = false;
    select.addEventListener("change", function () {
      set(select.getAttribute("data-view"), select.selectedIndex === 0 ? "" : select.value);
    });
    select.form.addEventListener("submit", function (e) { e.preventDefault(); });
  });
  apply.push(function () {
    var want = {};
    all("[data-view]").forEach(function (select) {
      var key = select.getAttribute("data-view"), value = state[key];
      select.selectedIndex = 0;
      if (value !== undefined) select.value = value;
      if (select.selectedIndex < 0) select.selectedIndex = 0;
      want[key] = select.value;
    });
    panels.forEach(function (f) {
      f.hidden = Object.keys(want).some(function (key) { return want[key] && f.getAttribute("data-" + key) !== want[key]; });
    });
  });

  // The table of all cells: filters, search, what to show.
  var cells = document.getElementById("cells"), form = document.querySelector("form[data-for=cells]");
  if (cells && form) {
    var at = { mechanism: 0, dataset: 1, epsilon: 2, variant: 3, model: 4 };
    var selects = all("[data-filter]", form), search = form.querySelector("[data-search]");
    var idle = form.querySelector("[data-idle]"), every = form.querySelector("[data-all]"), count = form.querySelector("output");
    form.hidden = false;
    form.addEventListener("submit", function (e) { e.preventDefault(); });
    form.addEventListener("input", function () {
      selects.forEach(function (s) {
        var key = "cells-" + s.getAttribute("data-filter");
        if (s.value) state[key] = s.value; else delete state[key];
      });
      if (search.value) state.search = search.value; else delete state.search;
      if (!idle.checked) state.idle = "no"; else delete state.idle;
      if (every.checked) state.all = "yes"; else delete state.all;
      changed();
    });
    apply.push(function () {
      selects.forEach(function (s) {
        s.value = state["cells-" + s.getAttribute("data-filter")] || "";
        if (s.selectedIndex < 0) s.selectedIndex = 0;
      });
      if (search.value !== (state.search || "")) search.value = state.search || "";
      idle.checked = state.idle !== "no";
      every.checked = state.all === "yes";
      var wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0, rows = all("tr", cells.tBodies[0]);
      rows.forEach(function (r) {
        var keep = idle.checked || !r.classList.contains("idle"), whole = wanted.length ? r.textContent.toLowerCase() : "";
        selects.forEach(function (s) {
          var key = s.getAttribute("data-filter");
          var value = key === "mechanism" ? r.cells[0].firstChild.nodeValue.trim() : text(r, at[key]);
          if (s.value && value !== s.value) keep = false;
        });
        wanted.forEach(function (w) { if (whole.indexOf(w) < 0) keep = false; });
        r.hidden = !keep;
        if (keep) shown++;
      });
      cells.classList.toggle("short", !every.checked);
      count.textContent = shown + " of " + rows.length + " rows";
    });
  }
  addEventListener("hashchange", function () { if (location.hash.indexOf("=") > 0) { read(); update(); } });

  // Points: named under the pointer and by the arrow keys.
  var tip = document.createElement("div"), shown = null;
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.appendChild(tip);
  function show(p) {
    if (shown) shown.classList.remove("at");
    shown = p;
    tip.hidden = !p;
    if (!p) return;
    p.classList.add("at");
    var box = p.getBoundingClientRect(), name = document.createElement("b");
    name.textContent = p.parentNode.getAttribute("data-s");
    tip.textContent = p.getAttribute("data-p");
    tip.insertBefore(name, tip.firstChild);
    tip.style.left = tip.style.top = "0";
    tip.style.left = Math.max(4, Math.min(scrollX + box.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = scrollY + (box.bottom + tip.offsetHeight + 8 < innerHeight ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + "px";
  }
  function visible(p) { return p.getBoundingClientRect().width > 0; }
  function middle(p) { var b = p.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }
  all("figure svg").forEach(function (svg) {
    if (!svg.querySelector(".p")) return;
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("pointermove", function (e) {
      var best = null, least = 18;
      all(".p", svg).forEach(function (p) {
        if (!visible(p)) return;
        var m = middle(p), d = Math.hypot(m[0] - e.clientX, m[1] - e.clientY);
        if (d < least) { least = d; best = p; }
      });
      if (best !== shown) show(best);
    });
    svg.addEventListener("pointerleave", function () { show(null); });
    svg.addEventListener("blur", function () { show(null); });
    svg.addEventListener("keydown", function (e) {
      var groups = all(".series", svg).filter(function (g) { return all(".p", g).some(visible); });
      if (!groups.length) return;
      var own = shown && svg.contains(shown) ? shown.parentNode : null, i = own ? groups.indexOf(own) : 0;
      var k = own ? all(".p", own).indexOf(shown) : -1;
      if (e.key === "ArrowRight") k++;
      else if (e.key === "ArrowLeft") k--;
      else if (e.key === "ArrowDown" || e.key === "ArrowUp") { i = (i + (e.key === "ArrowDown" ? 1 : groups.length - 1)) % groups.length; k = Math.max(0, k); }
      else if (e.key === "Enter" && own) { toggle(plain(own.getAttribute("data-s"))); e.preventDefault(); return; }
      else if (e.key === "Escape") { show(null); return; }
      else return;
      e.preventDefault();
      var points = all(".p", groups[i]);
      show(points[(k + points.length) % points.length]);
    });
  });

  // Downloads of a figure.
  function save(name, data, type) {
    var a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([data], { type: type }));
    a.download = name;
    a.click();
    setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
  }
  var quoted = function (s) { return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s; };
  all("figure").forEach(function (figure) {
    var svg = figure.querySelector("svg");
    if (!svg) return;
    var name = (figure.id || ["x", "dataset", "scene"].map(function (k) { return figure.getAttribute("data-" + k); }).join("-")).replace(/[^\w.]+/g, "-");
    var tools = document.createElement("div");
    tools.className = "tools";
    var source = function () { return new XMLSerializer().serializeToString(svg); };
    var add = function (label, act) {
      var b = document.createElement("button");
      b.type = "button";
      b.textContent = label;
      b.setAttribute("aria-label", "Download " + name + " as " + label);
      b.addEventListener("click", act);
      tools.appendChild(b);
    };
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
    if (svg.querySelector(".p")) add("CSV", function () {
      save(name + ".csv", "series,point\n" + all(".p", svg).map(function (p) {
        return quoted(p.parentNode.getAttribute("data-s")) + "," + quoted(p.getAttribute("data-p").replace(/\u2212/g, "-"));
      }).join("\n") + "\n", "text/csv");
    });
    figure.appendChild(tools);
  });

  read();
  update();
})();
