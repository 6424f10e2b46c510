/**
 * `text`, which tells of `was`, telling of `value` instead: for whoever agrees to a memory but corrects its value.
 *
 * Where the old value does not stand in it as it is, the field's name and the new value say it.
 */
export function textWithValue(
  text: string,
  { was, value, key }: { readonly was: string | null; readonly value: string; readonly key: string | null },
): string {
  const at = was === null || was === "" ? -1 : text.indexOf(was);
  if (at >= 0) return text.slice(0, at) + value + text.slice(at + (was ?? "").length);
  const name = (key ?? "value").replaceAll("_", " ");
  return `The user's ${name}: ${value}.`;
}
