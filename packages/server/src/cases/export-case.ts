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
  /** What the last turn was shown of memory. */
  readonly shown: readonly string[];
}

const comment = ` A conversation as a test case: see docs/testing-memory.md.
 The names of user, app, tenant and thread are replaced, and what the user is called. Read the rest before you share it.
 \`expect\` has what memory showed for the question. Keep what must be shown, and add what must be found or believed, or must not.`;

/** The YAML of a file with this one case. */
export function exportCase(thread: ExportedThread): string {
  const { scope, messages } = thread;
  const replace = standIns(thread);
  const said = messages.filter(({ text }) => text.trim() !== "").slice(0, maxMessages);
  let last = new Date(0);
  const lines = said.flatMap(({ role, text, saidAt }) => {
    if (role !== "user" && role !== "assistant" && role !== "tool") return [];
    const isLater = role === "user" && saidAt >= last;
    if (saidAt > last) last = saidAt;
    return [{ [role]: replace(text), ...(isLater && { at: saidAt }) }];
  });
  const question = said.findLast(({ role }) => role === "user")?.text ?? "What do you know?";
  const shown = thread.shown.map(replace);
  const exported = {
    name: `a conversation of ${said[0]?.saidAt.toISOString().slice(0, 10) ?? ""}`,
    user: scope.userId && standInOf.userId,
    app: scope.appId && standInOf.appId,
    timeZone: said[0]?.timeZone,
    threads: lines.length === 0 ? [] : [{ id: standInOf.threadId, messages: lines }],
    question: replace(question),
    expect: shown.length === 0 ? {} : { shown },
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
  for (const name of names) known.set(name, standInOf.name);
  for (const [id, value] of Object.entries({ ...scope, threadId }))
    if (value) known.set(value, standInOf[id as keyof typeof standInOf]);
  // A single letter or digit names nobody, and is in every text.
  const terms = [...known.keys()].filter((term) => term.length > 1 || spaceless.test(term));
  if (terms.length === 0) return (text) => text;
  const longestFirst = terms.toSorted((one, other) => other.length - one.length);
  // A group each: in lower case "İ" is two letters, so that what is found may be spelled as no name is.
  const pattern = new RegExp(longestFirst.map((term) => `(${wholeWord(term)})`).join("|"), "giu");
  return (text) =>
    text.replace(pattern, (_, ...groups: (string | undefined)[]) => {
      const place = groups.findIndex((found) => found !== undefined);
      return known.get(longestFirst[place] ?? "") ?? "";
    });
}

/** Scripts whose words follow each other without spaces, or are followed by particles. */
const spaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function wholeWord(term: string): string {
  const escaped = term.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (spaceless.test(term)) return escaped;
  return `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;
}
