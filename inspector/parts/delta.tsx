import type { ComponentChildren } from "preact";
import type { ShownMemory } from "../api-types.js";
import type { Params } from "../place.js";
import { Marked, MemoryLink, When } from "./texts.js";

/** Why a line of each part is shown. */
const whyOfPart: Readonly<Record<string, string>> = {
  ...{ profile: "always shown", notes: "note of the app, always shown", rest: "there was room" },
  ...{ relevant: "fits", episodes: "episode that fits", related: "linked with one that fits" },
};
/** Parts that were searched for. */
export const foundParts: ReadonlySet<string> = new Set(["relevant", "episodes"]);

const whoseWords: Readonly<Record<string, string>> = {
  ...{
    user: "said by the user",
    assistant: "said by an agent",
    worker: "worked out in the background",
  },
  ...{ operator: "vouched for by an operator", tool: "from a tool", document: "from a document" },
  ...{ import: "imported", unknown: "written by code" },
};

/**
 * The words that a line has in common with the question; without any it was found by what it means.
 */
function howItFits(text: string, lexemes: readonly string[]): string {
  if (lexemes.length === 0) return "";
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const shared = words.filter((word) =>
    lexemes.some((lexeme) => word.toLowerCase().startsWith(lexeme)),
  );
  return shared.length === 0 ? " by meaning" : `: ${[...new Set(shared)].slice(0, 5).join(", ")}`;
}

/**
 * A line that a model is shown, and why: always, or what it fits by; how old it is, and who said
 * it.
 */
export function ShownLine({
  line: { id, part, text, score, createdAt, origin },
  sign,
  whose,
  lexemes,
  children,
}: {
  readonly line: ShownMemory;
  readonly sign: "added" | "updated" | "gone" | "kept";
  readonly whose: Params;
  /** Beginnings of the question's words. */
  readonly lexemes: readonly string[];
  readonly children?: ComponentChildren;
}) {
  const isFound = foundParts.has(part);
  return (
    <li class={sign}>
      <MemoryLink id={id} whose={whose}>
        {text === null ? (
          "(removed since)"
        ) : (
          <Marked text={text} beginnings={isFound ? lexemes : []} />
        )}
      </MemoryLink>
      <p class="faint">
        {children || (
          <>
            <strong>
              {whyOfPart[part] ?? part}
              {isFound && howItFits(text ?? "", lexemes)}
            </strong>
            {score !== null && ` · score ${score.toFixed(2)}`}
            {createdAt !== null && (
              <>
                {" · "}
                <When at={createdAt} />
              </>
            )}
            {origin !== null && ` · ${whoseWords[origin] ?? origin}`}
          </>
        )}
      </p>
    </li>
  );
}
