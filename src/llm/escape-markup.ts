import { visibleText } from "../domain/storable-text.js";

/** `text` as it may stand inside markup: quoted text cannot open or close the blocks around it, nor hide anything. */
export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** `text` as it may stand in an attribute between double quotes. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(text).replaceAll('"', "&quot;");
}
