import type { MeasuresByType } from "./conversations.js";

/** The figures that say most: benchmark, type of question, search, and column. */
const places = [
  "locomo.json > all questions > transcript.search > R@10",
  "locomo.json > all questions > query > R@10",
  "locomo.json > all questions > recall, lines that fit > R of all",
  "locomo.json > noise: chit-chat > transcript.search > R@10 lost",
  "locomo.json > noise: chit-chat that asks > transcript.search > R@10 lost",
  "locomo.json > noise: two letters swapped > transcript.search > R@10 lost",
  "locomo.json > noise: two letters swapped > query > R@10 lost",
  "locomo.json > about strangers > recall, lines that fit > silent %",
  "locomo.json > about strangers > recall, lines that fit > lines",
  "locomo.json > requests > recall, lines that fit > silent %",
  "locomo.json > more requests > recall, lines that fit > silent %",
  "realtalk.json > all questions > transcript.search > R@10",
  "realtalk.json > noise: chit-chat > transcript.search > R@10 lost",
  "realtalk.json > noise: two letters swapped > transcript.search > R@10 lost",
  "beam.json > all questions > transcript.search > R@10",
  "beam.json > noise: chit-chat > transcript.search > R@10 lost",
  "beam.json > noise: two letters swapped > transcript.search > R@10 lost",
  "realmem > all questions > transcript.search > R@5",
  "realmem > all questions > transcript.search > R@10",
  "realmem > all questions > turns, BM25 > R@5",
  "realmem > all questions > turns, BM25 > R@10",
  "memdaily > all questions > transcript.search > R@5",
  "memdaily > all questions > transcript.search > R@10",
  "memdaily > all questions > turns, BM25 > R@5",
  "memdaily > all questions > turns, BM25 > R@10",
  "madial > zh, whole dialogue > query > R@10",
  "factconsolidation.json > 6k, statements > query > R@10",
  "factconsolidation.json > 6k, statements > query > newest first %",
  "factconsolidation.json > 6k, slots > query > R@10",
  "factconsolidation.json > 6k, slots > query > newest first %",
  "factconsolidation.json > 32k, statements > query > R@10",
  "factconsolidation.json > 32k, statements > query > newest first %",
  "factconsolidation.json > 32k, slots > query > R@10",
  "factconsolidation.json > 32k, slots > query > newest first %",
  "precisionmembench > native, active > query > exact %",
  "precisionmembench > native, active > query > R of all",
  "precisionmembench > native > query > fitting %",
  "precisionmembench > plain, active > query > exact %",
  "precisionmembench > plain, active > query > R of all",
  "precisionmembench > plain > query > fitting %",
];

/** The figures of the benchmarks that were run. */
export function figuresOf(measured: Readonly<Record<string, MeasuresByType>>): object {
  const figures = places.map((place) => {
    const [name = "", type = "", search = "", column = ""] = place.split(" > ");
    return [place, measured[name]?.[type]?.[search]?.[column]];
  });
  return Object.fromEntries(figures);
}
