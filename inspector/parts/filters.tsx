import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { go, type Place, whoseOf } from "../place.js";

/**
 * A search box and filters, on a phone behind a button; they become the place, and what is typed
 * stays in them whatever the answer is.
 */
export function Filters({
  place,
  search: { name, value, label },
  does = "Search",
  children,
}: Readonly<{
  place: Place;
  search: { readonly name: string; readonly value: string; readonly label: string };
  does?: string;
  children: ComponentChildren;
}>) {
  const [isOpen, setOpen] = useState(false);
  const apply = (form: HTMLFormElement) => {
    const given = Object.fromEntries(
      [...new FormData(form)].map(([field, filled]) => [field, String(filled).trim()]),
    );
    go({ ...place, params: { ...whoseOf(place.params), ...given } });
  };
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
      onChange={(event) => {
        if (
          event.target instanceof HTMLSelectElement ||
          (event.target as HTMLInputElement).type === "date"
        )
          apply(event.currentTarget);
      }}
    >
      <input
        class="search"
        name={name}
        type="search"
        key={value}
        defaultValue={value}
        placeholder={`${label}   ( / )`}
        aria-label={label}
        dir="auto"
      />
      <button type="submit" class="primary">
        {does}
      </button>
      <button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters
      </button>
      <div class={isOpen ? "fields open" : "fields"}>{children}</div>
    </form>
  );
}

/** A field of a filter. */
export function Field(
  field: Readonly<{
    label: string;
    name: string;
    value: string;
    type?: "text" | "date" | "number";
  }>,
) {
  const { label, name, value, type = "text" } = field;
  return (
    <label>
      {label}
      <input
        {...({ type } as object)}
        name={name}
        defaultValue={value}
        size={10}
        placeholder="all"
      />
    </label>
  );
}

/** One of some words. */
export function Choice(choice: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly words: readonly string[];
}) {
  return (
    <label>
      {choice.label}
      <select name={choice.name}>
        {choice.words.map((word) => (
          <option key={word} value={word} selected={word === choice.value}>
            {word.replaceAll("_", " ") || "all"}
          </option>
        ))}
      </select>
    </label>
  );
}
