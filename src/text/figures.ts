import { normalValue } from "./normal-value.js";

const figure =
  /(?:(?<![\p{L}\p{N}.,:/'-])-)?(?:[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+)(?:[.,:/'^\u066b\u066c\u2044-][0-9]+)*/gu;

const grouped = /^(-?[0-9]{1,3}([.,'])(?:[0-9]{2,3}\2)*[0-9]{3})(?:(?!\2)[.,]([0-9]+))?$/;

/**
 * Numbers, dates and times in any digits, sorted; "1,000", "1.000" and "1 000" are equal, and "1,5"
 * and "1.5".
 */
export const figuresOf = (text: string): string[] =>
  (normalValue(text).match(figure) ?? []).map(plainFigure).toSorted();

function plainFigure(written: string): string {
  const plain = written
    .replace(/ /g, "")
    .replace(/\u066b/g, ".")
    .replace(/\u066c/g, ",")
    .replace(/^0(?=[0-9]:)/, "");
  const [, whole, , decimals] = grouped.exec(plain) ?? [];
  if (whole !== undefined)
    return whole.replace(/[.,']/g, "") + (decimals === undefined ? "" : `.${decimals}`);
  return plain.replace(/^(-?[0-9]+),([0-9]+)$/, "$1.$2");
}

export const haveSameFigures = (first: string, second: string): boolean =>
  figuresOf(first).join(" ") === figuresOf(second).join(" ");

export function newFigure(text: string, sources: readonly string[]): string | undefined {
  const sourceFigures = new Set(sources.flatMap(figuresOf));
  return figuresOf(text).find((each) => !sourceFigures.has(each));
}
