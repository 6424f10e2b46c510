/** `value` without what makes no difference to people: case, width, white space. Equal values are the same value. */
export function normalValue(value: string): string {
  return value.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}
