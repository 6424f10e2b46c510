/** `text` as it may stand inside markup: quoted text cannot open or close the blocks around it. */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** `text` as it may stand in an attribute between double quotes. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(text).replaceAll('"', "&quot;");
}
