import { clipped, visibleText } from "./storable-text.js";

/** `text` as it may stand inside markup: quoted text cannot open or close the blocks around it, nor hide anything. */
export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Longest attribute, in characters: names and titles are shorter, and stand beside every message. */
const longestAttribute = 200;

/** `text` as it may stand in an attribute between double quotes, cut where it is too long for one. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(clipped(text, longestAttribute)).replaceAll('"', "&quot;");
}
