import { consentLines } from "../domain/consent-lines.js";
import { deltaHeader } from "../domain/delta-header.js";
import type { MemoryItem } from "../domain/memory.js";
import type { Recalled } from "./recall.js";

/**
 * What recall found as text for the prompt, or null when there is nothing to say: delta header, profile,
 * relevant memories and episodes, app notes, summary.
 *
 * The block is delimited, and nothing remembered can close it.
 *
 * @param appName what the app's notes are headed with.
 */
export function memoryBlock(recalled: Recalled, appName?: string): string | null {
  const sections = [
    delta(recalled),
    profile(recalled),
    context(recalled),
    notes(recalled, appName),
    consents(recalled),
    summary(recalled),
  ].filter((section) => section !== null);
  return sections.length === 0 ? null : `<memory>\n${sections.join("\n\n")}\n</memory>`;
}

function delta({ changes }: Recalled): string | null {
  const header = deltaHeader(changes);
  return header === null ? null : contain(header);
}

function profile({ memories }: Recalled): string | null {
  if (memories.profile.length === 0) return null;
  const lines = memories.profile.map(({ key, value, text }) =>
    key !== null && value !== null ? bullet(`${key}: ${value}`) : bullet(text),
  );
  return ["## User Profile", ...lines].join("\n");
}

function context({ memories }: Recalled): string | null {
  const { relevant, episodes, related } = memories;
  const labelled = ({ category, text }: MemoryItem) => bullet(`[${category}] ${text}`);
  const lines = [
    ...relevant.map(({ memory }) => labelled(memory)),
    ...related.map(labelled),
    ...episodes.map(({ memory }) =>
      bullet(memory.turns ? `turns ${memory.turns.start}-${memory.turns.end}: ${memory.text}` : memory.text),
    ),
  ];
  return lines.length === 0 ? null : ["## Recent Context", ...lines].join("\n");
}

function notes({ memories }: Recalled, appName: string | undefined): string | null {
  const [first] = memories.notes;
  if (!first) return null;
  const numbered = memories.notes.map(
    (note, index) =>
      `${index + 1}. [Created: ${note.createdAt.toISOString().slice(0, 10)}] ${oneLine(note.text)}`,
  );
  return [
    `(memories for app: ${oneLine(appName ?? first.scope.appId ?? "")})`,
    "The following are memories from previous conversations with this app:",
    "",
    ...numbered,
    "",
    "Use these memories to provide context-aware responses.",
  ].join("\n");
}

function consents({ consents: waiting }: Recalled): string | null {
  if (waiting.length === 0) return null;
  return [
    "## Waiting for the User's Consent",
    "None of this is known until the user agrees. Where it fits, ask about it. With a tool for consent, call it only " +
      "when the user plainly said yes or no to one of these:",
    ...consentLines(waiting).map(bullet),
  ].join("\n");
}

function summary({ summary: found }: Recalled): string | null {
  if (!found) return null;
  const { startSeq, endSeq, text } = found;
  return `[Summary of messages ${startSeq}-${endSeq} of this conversation]:\n${contain(text)}`;
}

function bullet(text: string): string {
  return `- ${oneLine(text)}`;
}

/** One memory is one line: it cannot look like a heading or another section. */
function oneLine(text: string): string {
  return contain(text.replace(/\s+/g, " ").trim());
}

/** `text` with any tag of the block itself made harmless. */
function contain(text: string): string {
  return text.replace(/<(?=\s*\/?\s*memory\b)/gi, "&lt;");
}
