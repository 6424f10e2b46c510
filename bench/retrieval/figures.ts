import type { MeasuresByType } from "./conversations.js";

/** The figures that say most: benchmark, type of question, search and column of each. */
const places: Readonly<Record<string, string>> = {
  locomoTranscriptR10: "locomo.json > all questions > transcript.search > R@10",
  realtalkTranscriptR10: "realtalk.json > all questions > transcript.search > R@10",
  beamTranscriptR10: "beam.json > all questions > transcript.search > R@10",
  locomoFactsR10: "locomo.json > all questions > query > R@10",
  locomoRecallR8: "locomo.json > all questions > recall, lines that fit > R of all",
  realMemR5: "realmem > all questions > transcript.search > R@5",
  realMemBm25R5: "realmem > all questions > turns, BM25 > R@5",
  realMemR10: "realmem > all questions > transcript.search > R@10",
  realMemBm25R10: "realmem > all questions > turns, BM25 > R@10",
  memDailyR5: "memdaily > all questions > transcript.search > R@5",
  memDailyBm25R5: "memdaily > all questions > turns, BM25 > R@5",
  memDailyR10: "memdaily > all questions > transcript.search > R@10",
  memDailyBm25R10: "memdaily > all questions > turns, BM25 > R@10",
  madialChineseDialogueR10: "madial > zh, whole dialogue > query > R@10",
  strangersSilent: "locomo.json > about strangers > recall, lines that fit > silent %",
  strangersLines: "locomo.json > about strangers > recall, lines that fit > lines",
  requestsSilent: "locomo.json > requests > recall, lines that fit > silent %",
  moreRequestsSilent: "locomo.json > more requests > recall, lines that fit > silent %",
  precisionActive: "precisionmembench > native, active > query > exact %",
  precisionRecall: "precisionmembench > native, active > query > R of all",
  precisionFitting: "precisionmembench > native > query > fitting %",
  precisionPlainActive: "precisionmembench > plain, active > query > exact %",
  precisionPlainRecall: "precisionmembench > plain, active > query > R of all",
  precisionPlainFitting: "precisionmembench > plain > query > fitting %",
  facts6kFound: "factconsolidation.json > 6k, statements > query > R@10",
  facts6kNewestFirst: "factconsolidation.json > 6k, statements > query > newest first %",
  facts6kSlotsFound: "factconsolidation.json > 6k, slots > query > R@10",
  facts6kSlotsNewestFirst: "factconsolidation.json > 6k, slots > query > newest first %",
  facts32kFound: "factconsolidation.json > 32k, statements > query > R@10",
  facts32kNewestFirst: "factconsolidation.json > 32k, statements > query > newest first %",
  facts32kSlotsFound: "factconsolidation.json > 32k, slots > query > R@10",
  facts32kSlotsNewestFirst: "factconsolidation.json > 32k, slots > query > newest first %",
};

/** Of LoCoMo, REALTALK and BEAM: what noise costs transcript search, in points of R@10. */
const costs: Readonly<Record<string, string>> = {
  chitChatCost: "in chit-chat",
  chitChatThatAsksCost: "in chit-chat that asks",
  slipCost: "with two letters swapped",
};

/** The figures of the benchmarks that were run. */
export function figuresOf(measured: Readonly<Record<string, MeasuresByType>>): object {
  const figureAt = (place: string) => {
    const [name = "", type = "", search = "", column = ""] = place.split(" > ");
    return measured[name]?.[type]?.[search]?.[column] ?? Number.NaN;
  };
  const figures = Object.entries(places).map(([name, place]) => [name, figureAt(place)] as const);
  const lost = ["locomo", "realtalk", "beam"].flatMap((name) =>
    Object.entries(costs).map(([cost, type]) => {
      const r10 = (asked: string) => figureAt(`${name}.json > ${asked} > transcript.search > R@10`);
      return [`${name} ${cost}`, r10("as written") - r10(type)] as const;
    }),
  );
  return Object.fromEntries([...figures, ...lost].filter(([, figure]) => !Number.isNaN(figure)));
}
