// How results of the search are ordered: public names first, then titles; pages of statements and modules after pages of words.
var Scorer = {
  score: ([docname, , , , score]) => {
    if (docname.startsWith("reference/modules/")) return score - 20;
    if (docname.startsWith("statements/") || docname.startsWith("witnesses/")) return score - 10;
    return score + (docname.startsWith("reference/") || docname.startsWith("guides/") ? 5 : 0);
  },
  objNameMatch: 200,
  objPartialMatch: 60,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
