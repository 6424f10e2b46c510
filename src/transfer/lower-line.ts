import { isoTimeMs } from "../clock.js";
import { goneForGood } from "../memories/changes/change-line.js";
import { consentRule } from "../memories/guard/consent-policy.rule.js";
import { findCategory } from "../memories/item/category.rule.js";
import { slotKey } from "../memories/item/slot-key.rule.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import { visibleText } from "../text/storable-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { instructsAnywhere, labelOf, type Screened, screenLine, withheld } from "./screen-line.js";

/** Whether anybody vouches for a file: an operator, or nobody. */
export type ImportTrust = "untrusted" | "operator";

/** The settings that decide what of a file is kept. */
export type ImportConfig = WriteConfig & { readonly summaries: { readonly maxCharacters: number } };

/** What decides how far a file is believed. */
export interface LoweringRules {
  readonly config: ImportConfig;
  readonly now: Date;
}

/**
 * Lines of a file that nobody vouches for, as they may be imported: with their words, and without what only this
 * installation can say of them. Asked for each line in turn, since news are told of memories before them.
 *
 * - A memory is of origin "import" and untrusted, neither pinned nor surer than the least that is kept, so that whatever
 *   its user says next takes its place. What fills a sensitive field waits in quarantine, where consent can be given.
 * - A request for consent has expired, however it stood: nothing in a file is the user's consent, or refusal.
 * - A thread brings no background work, and the audit trail names who wrote it as the import's.
 * - A message counts as recorded long ago, so that no consent given since can rest on it.
 * - A summary that reads as instructions, or is longer than one of here, fails: its thread falls back to its messages.
 * - News of what did not come in, waits, or needs consent are told without their words.
 * - No time lies in the future where it would keep something from ageing or giving way.
 */
export function lowering(rules: LoweringRules): (line: ExportLine) => Screened {
  const brought = new Set<string>();
  return (line) => {
    switch (line.type) {
      case "thread": {
        const times = earlier(rules, line, ["createdAt", "lastActivityAt"]);
        return { line: { ...line, ...times, tasks: [] }, held: false };
      }
      case "message":
        return { line: { ...lowerLabels(line), createdAt: longAgo }, held: false };
      case "summary":
        return lowerSummary(rules, line);
      case "memory": {
        const { sensitive, ...lowered } = lowerMemory(rules, line);
        if (!sensitive && lowered.line.state !== "quarantined") brought.add(line.id);
        return lowered;
      }
      case "history":
        return { line: { ...line, actor: `import: ${line.actor ?? "unknown"}` }, held: false };
      case "change":
        return lowerNews(line, brought.has(line.memoryId));
      case "consent":
        return lowerConsent(line);
      case "item":
        return { line: { ...line, ...earlier(rules, line, ["createdAt", "updatedAt"]) }, held: false };
      default:
        return { line, held: false };
    }
  };
}

const longAgo = "1970-01-01T00:00:00Z";

function lowerMemory(
  rules: LoweringRules,
  line: ExportLineOf<"memory">,
): Screened<ExportLineOf<"memory">> & { readonly sensitive: boolean } {
  const { policy, consent, memories } = rules.config;
  const category = findCategory(policy, line.category)?.name ?? line.category;
  const key = line.key === null ? null : slotKey(category, line.key);
  const lowered: ExportLineOf<"memory"> = {
    ...line,
    ...{ category, key, pinned: false, trust: "untrusted" },
    ...{
      text: visibleText(line.text),
      value: line.value && visibleText(line.value),
      tags: line.tags.map(visibleText),
    },
    origin: line.origin === "tool" || line.origin === "document" ? line.origin : "import",
    confidence: Math.min(line.confidence, memories.minConfidence),
    ...earlier(rules, line, ["validFrom", "lastAccessedAt", "createdAt", "updatedAt"]),
    ...harmless(line, ["evidence", "agentId", "runId", "actorId", "role"]),
  };
  const sensitive = consentRule(consent, lowered) === "consent";
  const unasked = sensitive && line.state === "active";
  // Also what is closed: it can be brought back in the words that it has.
  const held = line.state !== "quarantined" && (unasked || memoryInstructs(lowered));
  return { line: held ? { ...lowered, state: "quarantined" } : lowered, held, sensitive };
}

/** Labels of agents and runs reach prompts with what is learned: those that read as instructions go. */
function lowerLabels(line: ExportLineOf<"message">): ExportLineOf<"message"> {
  const { agentId = null, runId = null } = harmless(
    { agentId: line.agentId ?? null, runId: line.runId ?? null },
    ["agentId", "runId"],
  );
  return { ...line, agentId: agentId ?? undefined, runId: runId ?? undefined };
}

function lowerSummary({ config }: LoweringRules, line: ExportLineOf<"summary">): Screened {
  const { status, text } = line;
  if (status !== "completed" || text === null) return { line: { ...line, text: null }, held: false };
  const problem =
    text.length > config.summaries.maxCharacters
      ? "not imported: it is longer than a summary may be"
      : instructsAnywhere(text)
        ? "not imported: it reads as instructions"
        : null;
  if (problem === null) return { line, held: false };
  return { line: { ...line, status: "failed", text: null, error: problem }, held: true };
}

function lowerNews(line: ExportLineOf<"change">, brought: boolean): Screened {
  const screened = screenLine(line);
  const news = screened.line as ExportLineOf<"change">;
  const label = labelOf(news.line);
  if (readsAsInstruction(label)) return { line: { ...news, line: withheld }, held: true };
  return brought ? screened : { line: { ...news, line: `${label}${goneForGood}` }, held: false };
}

function lowerConsent(line: ExportLineOf<"consent">): Screened {
  if (line.status === "superseded" || line.status === "expired") return { line, held: false };
  const decidedAt = line.decidedAt ?? line.createdAt;
  const undecided = { decidedBy: null, decidedVia: null, evidence: null, memoryId: null };
  return { line: { ...line, ...undecided, status: "expired", decidedAt }, held: true };
}

/** The times of `fields`, none later than now. */
function earlier<Line, Field extends keyof Line>(
  { now }: LoweringRules,
  line: Line,
  fields: readonly Field[],
): Pick<Line, Field> {
  const entries = fields.map((field) => {
    const time = line[field];
    const later = (isoTimeMs(String(time)) ?? 0) > now.getTime();
    return [field, later ? now.toISOString() : time] as const;
  });
  return Object.fromEntries(entries) as Pick<Line, Field>;
}

/** The texts of `fields`; null for one that reads as instructions. */
function harmless<Field extends string>(
  line: Readonly<Record<Field, string | null>>,
  fields: readonly Field[],
): Record<Field, string | null> {
  const entries = fields.map((field) => {
    const text = line[field];
    return [field, text !== null && instructsAnywhere(text, { orders: true }) ? null : text] as const;
  });
  return Object.fromEntries(entries) as Record<Field, string | null>;
}
