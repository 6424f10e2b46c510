import { type HostileInput, repeatedInput } from "./inputs.js";

/** Languages whose dates are read, with a locale of each. PostgreSQL has none for the last two. */
export const searchLanguages = [
  { language: "arabic", locale: "ar" },
  { language: "dutch", locale: "nl" },
  { language: "english", locale: "en" },
  { language: "finnish", locale: "fi" },
  { language: "french", locale: "fr" },
  { language: "german", locale: "de" },
  { language: "indonesian", locale: "id" },
  { language: "italian", locale: "it" },
  { language: "portuguese", locale: "pt" },
  { language: "russian", locale: "ru" },
  { language: "simple", locale: "ja" },
  { language: "spanish", locale: "es" },
  { language: "swedish", locale: "sv" },
  { language: "ukrainian", locale: "uk" },
  { language: "vietnamese", locale: "vi" },
] as const;

const units = ["second", "minute", "hour", "day", "week", "month", "year"] as const;

/** Durations of a locale over and over, as they are written and without their figures. */
export function durationInputs(locale: string): HostileInput[] {
  return units.flatMap((unit) =>
    (["long", "narrow"] as const).flatMap((unitDisplay) => {
      const format = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay });
      const written = `${format.format(2)} `;
      const name = `${unitDisplay} ${unit}s in ${locale}`;
      return [
        repeatedInput(`${name}, figures`, written),
        repeatedInput(name, `${written.replace(/\p{N}/gu, "").trim()} `),
      ];
    }),
  );
}
