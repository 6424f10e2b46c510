export function detailDifference(first: string, second: string): "figures" | "words" | null {
  const negation = /\b(?:not|no|never|none|cannot|without|neither|nor)\b|n['’]t\b/giu;
  const details = (whole: string) =>
    JSON.stringify([
      (whole.match(/\p{N}+(?:[.,:/-]\p{N}+)*/gu) ?? []).toSorted(),
      (whole.match(negation) ?? []).length % 2,
    ]);
  return details(first) !== details(second) ? "figures" : null;
}
