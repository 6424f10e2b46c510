import { seeded } from "../data/sentences.js";

/** Shortest word that is misspelt. */
const shortest = 5;

/**
 * `text` with every word of at least five letters misspelt: two letters swapped, one dropped, or one doubled,
 * never the first. The same for the same text.
 */
export function misspell(text: string): string {
  const random = seeded(
    [...text].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) | 0, 7),
  );
  return text.replace(new RegExp(`\\p{L}{${shortest},}`, "gu"), (word) => {
    const at = 1 + Math.floor(random() * (word.length - 2));
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    const edits = [
      `${before}${after.charAt(0)}${letter}${after.slice(1)}`,
      before + after,
      before + letter + letter + after,
    ];
    const edited = edits[Math.floor(random() * edits.length)] as string;
    // Two equal letters swapped are no mistake.
    return edited === word ? before + after : edited;
  });
}
