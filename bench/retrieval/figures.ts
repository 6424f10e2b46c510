import type { MeasuresByType } from "./conversations.js";
import { noiseTypes, silenceTypes } from "./extra-questions.js";
import type { Measures } from "./measure.js";
import { total } from "./retrieval-data.js";

const transcript = "transcript.search";
const bm25 = "turns, BM25";
const recall = "recall, lines that fit";

type Place = readonly [file: string, type: string, search: string, column: keyof Measures];

/** The figures that say most, by their names in the line of JSON. */
const places: Readonly<Record<string, Place>> = {
  locomoTranscriptR10: ["locomo.json", total, transcript, "R@10"],
  realtalkTranscriptR10: ["realtalk.json", total, transcript, "R@10"],
  beamTranscriptR10: ["beam.json", total, transcript, "R@10"],
  locomoFactsR10: ["locomo.json", total, "query", "R@10"],
  locomoRecallR8: ["locomo.json", total, recall, "R of all"],
  realMemR5: ["realmem", total, transcript, "R@5"],
  realMemBm25R5: ["realmem", total, bm25, "R@5"],
  realMemR10: ["realmem", total, transcript, "R@10"],
  realMemBm25R10: ["realmem", total, bm25, "R@10"],
  memDailyR5: ["memdaily", total, transcript, "R@5"],
  memDailyBm25R5: ["memdaily", total, bm25, "R@5"],
  memDailyR10: ["memdaily", total, transcript, "R@10"],
  madialChineseDialogueR10: ["madial", "zh, whole dialogue", "query", "R@10"],
  strangersSilent: ["locomo.json", silenceTypes.strangers, recall, "silent %"],
  strangersLines: ["locomo.json", silenceTypes.strangers, recall, "lines"],
  requestsSilent: ["locomo.json", silenceTypes.requests, recall, "silent %"],
  moreRequestsSilent: ["locomo.json", silenceTypes.moreRequests, recall, "silent %"],
  precisionActive: ["precisionmembench", "native, active", "query", "exact %"],
  precisionRecall: ["precisionmembench", "native, active", "query", "R of all"],
  precisionFitting: ["precisionmembench", "native", "query", "fitting %"],
  precisionActivePlain: ["precisionmembench", "plain, active", "query", "exact %"],
  asWritten: ["locomo.json", noiseTypes.none, transcript, "R@10"],
  inChitChat: ["locomo.json", noiseTypes.chitChat, transcript, "R@10"],
  inChitChatThatAsks: ["locomo.json", noiseTypes.chitChatThatAsks, transcript, "R@10"],
  withSlip: ["locomo.json", noiseTypes.slip, transcript, "R@10"],
};

/** The figures of the benchmarks that were run. */
export function figuresOf(measured: Readonly<Record<string, MeasuresByType>>): object {
  return Object.fromEntries(
    Object.entries(places).map(([name, [file, type, search, column]]) => [
      name,
      measured[file]?.[type]?.[search]?.[column],
    ]),
  );
}
