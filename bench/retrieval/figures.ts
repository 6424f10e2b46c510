import { type MeasuresByType, total } from "./conversations.js";
import { noiseTypes, silenceTypes } from "./extra-questions.js";
import type { Measures } from "./measure.js";

/** The figures that say most, for programs; null where a benchmark was not run. */
export function figuresOf(measured: ReadonlyMap<string, MeasuresByType>): object {
  const figure = (name: string, type: string, search: string, column: keyof Measures) =>
    measured.get(name)?.get(type)?.get(search)?.[column] ?? Number.NaN;
  const r10 = (name: string, type: string, search: string) => figure(name, type, search, "R@10");
  const totals = (name: string, search: string) => ({
    r5: figure(name, total, search, "R@5"),
    r10: r10(name, total, search),
  });
  const cost = (name: string, noise: keyof typeof noiseTypes, search: string) =>
    r10(name, noiseTypes.none, search) - r10(name, noiseTypes[noise], search);
  const silence = (type: string) => ({
    silent: figure("LoCoMo", type, "recall, lines that fit", "silent %"),
    lines: figure("LoCoMo", type, "recall, lines that fit", "lines"),
  });
  const freshness = (type: string) => ({
    found: r10("FactConsolidation", type, "query"),
    newestFirst: figure("FactConsolidation", type, "query", "newest first %"),
  });
  const precision = (form: string) => ({
    active: figure("PrecisionMemBench", `${form}, active`, "query", "exact %"),
    recall: figure("PrecisionMemBench", `${form}, active`, "query", "R of all"),
    precision: figure("PrecisionMemBench", form, "query", "precision %"),
  });
  const people = ["LoCoMo", "REALTALK", "BEAM"];
  const ofPeople = (value: (name: string) => unknown) =>
    Object.fromEntries(people.map((name) => [name, value(name)]));
  return {
    transcript: ofPeople((name) => r10(name, total, "transcript.search")),
    facts: r10("LoCoMo", total, "query"),
    recall: r10("LoCoMo", total, "recall, lines that fit"),
    realMem: totals("RealMem", "transcript.search"),
    realMemBm25: totals("RealMem", "turns, BM25"),
    memDaily: totals("MemDaily", "transcript.search"),
    memDailyBm25: totals("MemDaily", "turns, BM25"),
    madialChinese: r10("MADial", "Chinese, whole dialogue", "query"),
    chitChatCost: ofPeople((name) => cost(name, "chitChat", "transcript.search")),
    chitChatThatAsksCost: ofPeople((name) => cost(name, "chitChatThatAsks", "transcript.search")),
    slipCost: ofPeople((name) => cost(name, "slip", "transcript.search")),
    slipCostFacts: cost("LoCoMo", "slip", "query"),
    strangers: silence(silenceTypes.strangers),
    requests: silence(silenceTypes.requests),
    moreRequests: silence(silenceTypes.moreRequests),
    precisionNative: precision("native"),
    precisionPlain: precision("plain"),
    ...Object.fromEntries(
      [...(measured.get("FactConsolidation")?.keys() ?? [])]
        .filter((type) => type !== total)
        .map((type) => [type, freshness(type)]),
    ),
  };
}
