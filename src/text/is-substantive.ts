import { wordSegmenter } from "./cut-text.js";

/** Between spaces; short, since a text may have a million letters without a space. */
const stretches = /[\p{L}\p{N}]\S{0,40}/gu;

export function isSubstantive(text: string, asked = false): boolean {
  let words = 0;
  for (const [stretch] of text.matchAll(stretches)) {
    for (const { isWordLike } of wordSegmenter.segment(stretch)) {
      if (isWordLike && ++words === (asked ? 1 : 2)) return true;
    }
  }
  return false;
}
