/** `text` as it may stand inside markup: quoted text cannot open or close the blocks around it. */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
