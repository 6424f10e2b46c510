import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { go, useHere } from "../place.js";
import { valuesIn } from "./ask-first.js";

/** A form whose fields become the place; what is typed stays in them whatever the answer is. */
export function PlaceForm({ children }: { children: ComponentChildren }) {
  const { view, owner } = useHere();
  const apply = (form: HTMLFormElement) => {
    const fields = Object.entries(valuesIn(form)).map(([name, value]) => [name, value.trim()]);
    go(view, { ...owner, ...Object.fromEntries(fields) });
  };
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
      onChange={({ target, currentTarget }) => {
        if ((target as HTMLElement).matches("select, input[type^=date]")) apply(currentTarget);
      }}
    >
      {children}
    </form>
  );
}

/** A search box and filters, on a phone behind a button. */
export function Filters({
  name,
  label,
  does = "Search",
  children,
}: {
  name: string;
  label: string;
  does?: string;
  children: ComponentChildren;
}) {
  const value = useHere().params[name] ?? "";
  const [isOpen, setOpen] = useState(false);
  return (
    <PlaceForm>
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
    </PlaceForm>
  );
}

/** A field of a filter: the param `name`. */
export function Field({
  label,
  name,
  type = "text",
}: {
  label: string;
  name: string;
  type?: "text" | "date" | "datetime-local" | "number";
}) {
  const value = useHere().params[name] ?? "";
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

/** One of some words; the first where the param `name` is missing. */
export function Choice({
  name,
  label,
  words,
}: {
  name: string;
  label: string;
  words: readonly string[];
}) {
  const chosen = useHere().params[name] ?? words[0];
  return (
    <label>
      {label}
      <select name={name}>
        {words.map((word) => (
          <option value={word} selected={word === chosen}>
            {word.replaceAll("_", " ") || "all"}
          </option>
        ))}
      </select>
    </label>
  );
}
