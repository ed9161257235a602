// The index of the statements: one choice for each of the columns that have few values, and words; without scripts the whole table is shown.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector(".statement-index table");
  if (!table) return;
  const heads = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
  const rows = [...table.querySelectorAll("tbody tr")];
  const bar = document.createElement("div");
  bar.id = "statement-filter";
  const choices = ["paper", "status", "mechanism", "property"].map((name) => {
    const column = heads.indexOf(name);
    const select = document.createElement("select");
    select.setAttribute("aria-label", name);
    const values = new Set(rows.map((row) => row.cells[column].textContent.trim()).filter(Boolean));
    select.add(new Option(`every ${name}`, ""));
    [...values].sort().forEach((value) => select.add(new Option(value, value)));
    bar.append(select);
    return { column, select, name };
  });
  const words = document.createElement("input");
  words.type = "search";
  words.placeholder = "words of the claim";
  const count = document.createElement("span");
  bar.append(words, count);
  (table.closest(".pst-scrollable-table-container") || table).before(bar);
  const show = () => {
    const wanted = words.value.toLowerCase();
    let shown = 0;
    rows.forEach((row) => {
      const fits = choices.every(({ column, select }) => !select.value || row.cells[column].textContent.trim() === select.value);
      row.hidden = !(fits && row.textContent.toLowerCase().includes(wanted));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length} statements`;
  };
  bar.addEventListener("input", show);
  const asked = new URLSearchParams(location.search);
  choices.forEach(({ select, name }) => { select.value = asked.get(name) || ""; });
  show();
});
