import { diffLines, diffWordsWithSpace } from "diff";
import { useState } from "preact/hooks";
import { hrefOf, type Params } from "../place.js";

/** Longest text that is compared word by word; longer ones are compared by lines. */
const mostWordCharacters = 20_000;
/** Longest text that is compared at all. */
const mostCharacters = 400_000;

/** What somebody wrote, in whatever script: never more than text. */
export function Words({ text, most = 2_000 }: { readonly text: string; readonly most?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, most);
  return (
    <span class="words">
      <bdi>{shown}</bdi>
      {shown.length < text.length && (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          … show all {count(text.length)} characters
        </button>
      )}
    </span>
  );
}

/** How a text became another. */
export function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  if (before.length + after.length > mostCharacters) return <p class="note">These are too long to be compared here.</p>;
  const byWords = before.length + after.length <= mostWordCharacters;
  const parts = byWords ? diffWordsWithSpace(before, after) : diffLines(before, after);
  return (
    <p class="difference" dir="auto">
      {parts.map(({ value, added, removed }, place) => {
        const key = `${place}${added}${removed}`;
        if (added) return <ins key={key}>{value}</ins>;
        return removed ? <del key={key}>{value}</del> : <span key={key}>{value}</span>;
      })}
    </p>
  );
}

/** A number for people. */
export function count(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** A number with its noun. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** A time as short as it can be told. */
export function When({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="faint">never</span>;
  const date = new Date(at);
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return (
    <time dateTime={at} title={at}>
      {day} {pad(date.getHours())}:{pad(date.getMinutes())}
    </time>
  );
}

/** A link to a memory. */
export function MemoryLink({
  id,
  whose,
  text,
}: {
  readonly id: string;
  readonly whose: Params;
  readonly text?: string;
}) {
  return (
    <a href={hrefOf({ view: "memory", params: { ...whose, id } })}>
      <bdi>{text ?? id.slice(0, 8)}</bdi>
    </a>
  );
}

/** A label of a few letters: a state, a kind. */
export function Tag({ of, tone = "plain" }: { readonly of: string; readonly tone?: string }) {
  return <span class={`tag ${tone}`}>{of.replaceAll("_", " ")}</span>;
}

/** The tone of a memory's or a job's state. */
export function toneOf(state: string): string {
  if (state === "active" || state === "completed" || state === "approved") return "good";
  if (state === "failed" || state === "quarantined" || state === "refused") return "bad";
  return state === "pending" || state === "processing" || state === "running" || state === "waiting"
    ? "waiting"
    : "plain";
}
