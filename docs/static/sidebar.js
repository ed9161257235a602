// The sidebar of a statement's page: the statements of its paper, by their titles. docs/tools/statement_pages.py makes STATEMENTS.
(() => {
  const here = decodeURIComponent(location.pathname.split("/").pop()).replace(/\.html$/, "");
  const list = document.getElementById("statement-list");
  STATEMENTS[here.split(".")[0]].forEach(([name, title]) => {
    const link = Object.assign(document.createElement("a"), { href: `${name}.html`, textContent: title, title: name });
    const item = list.appendChild(document.createElement("li"));
    item.append(link);
    if (name !== here) return;
    item.className = "current active";
    link.setAttribute("aria-current", "page");
  });
})();
