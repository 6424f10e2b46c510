import type { Scope, ThreadMessage } from "mnemograph";
import { stringify } from "yaml";
import { maxMessages } from "./case-file.js";

// A recorded conversation as a case, without the names of those who had it.

export interface ExportedThread {
  readonly scope: Scope;
  readonly threadId: string;
  /** What the user wants to be called, now and before. */
  readonly names: readonly string[];
  readonly messages: readonly ThreadMessage[];
}

const comment = ` A conversation as a test case: see docs/testing-memory.md.
 The names of user, app, tenant and thread are replaced, and what the user is called. Read the rest before you share it.
 Write under \`expect\` what must be found, shown or believed for the question, or must not.`;

/** The YAML of a file with this one case. What is expected is for its reader to write. */
export function exportCase(thread: ExportedThread): string {
  const { scope, messages } = thread;
  const replace = standIns(thread);
  const said = messages.filter(({ text }) => text.trim() !== "").slice(0, maxMessages);
  let last = 0;
  const lines = said.flatMap(({ role, text, saidAt }) => {
    if (role !== "user" && role !== "assistant" && role !== "tool") return [];
    const isLater = role === "user" && saidAt.getTime() >= last;
    last = Math.max(last, saidAt.getTime());
    return [{ [role]: replace(text), ...(isLater && { at: saidAt.toISOString() }) }];
  });
  const question = said.findLast(({ role }) => role === "user")?.text ?? "What do you know?";
  const [day = ""] = said[0]?.saidAt.toISOString().split("T") ?? [];
  const exported = {
    name: `a conversation of ${day}`,
    ...(scope.userId !== undefined && { user: standInOf.userId }),
    ...(scope.appId !== undefined && { app: standInOf.appId }),
    ...(said[0] && { timeZone: said[0].timeZone }),
    threads: lines.length === 0 ? [] : [{ id: standInOf.threadId, messages: lines }],
    question: replace(question),
    expect: {},
  };
  const yaml = stringify({ cases: [exported] }, { lineWidth: 0 });
  return `${comment.replaceAll(/^/gm, "#")}\n${yaml}`;
}

const standInOf = {
  tenantId: "tenant-1",
  userId: "user-1",
  appId: "app-1",
  threadId: "thread-1",
  name: "Name1",
} as const;

/** Replaces each name wherever it is a word of its own, in any case. */
function standIns({ scope, threadId, names }: ExportedThread): (text: string) => string {
  const known = new Map<string, string>();
  for (const name of names) known.set(name.toLowerCase(), standInOf.name);
  for (const [id, value] of Object.entries({ ...scope, threadId }))
    if (value) known.set(value.toLowerCase(), standInOf[id as keyof typeof standInOf]);
  // A single letter or digit names nobody, and is in every text.
  const terms = [...known.keys()].filter((term) => term.length > 1 || spaceless.test(term));
  if (terms.length === 0) return (text) => text;
  const longestFirst = terms.toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(longestFirst.map(wholeWord).join("|"), "giu");
  return (text) => text.replace(pattern, (found) => known.get(found.toLowerCase()) ?? found);
}

/** Scripts whose words follow each other without spaces, or are followed by particles. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function wholeWord(term: string): string {
  const escaped = term.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (spaceless.test(term)) return escaped;
  return `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;
}
