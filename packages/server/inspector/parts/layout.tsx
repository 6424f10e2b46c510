import type { ComponentChildren } from "preact";
import type { Source } from "../api-types.js";
import { hrefOf, type Params, useHere } from "../place.js";
import { count } from "./texts.js";

/** A part of the page with a title and what stands beside it. */
interface Titled {
  readonly title: string;
  readonly beside?: ComponentChildren;
  readonly kind?: string;
  readonly children: ComponentChildren;
}

/** A view with its title. */
export function Page({ title, beside, kind, children }: Titled) {
  return (
    <section class={kind} aria-label={title}>
      <div class="head">
        <h1 title={title}>
          <bdi>{title}</bdi>
        </h1>
        {beside}
      </div>
      {children}
    </section>
  );
}

/** A part of a view with its heading. */
export function Card({ title, beside, kind = "card", children }: Titled) {
  return (
    <section class={kind} aria-label={title}>
      <h2>
        {title} {beside}
      </h2>
      {children}
    </section>
  );
}

/** A list, or a note where it is empty. Rows with state, and those that move, have keys. */
export function Rows<Row>({
  rows,
  none,
  kind = "rows",
  children,
}: {
  rows: readonly Row[];
  none?: string;
  kind?: string;
  /** A list item. */
  children: (row: Row) => ComponentChildren;
}) {
  if (rows.length === 0) return none === undefined ? null : <p class="note">{none}</p>;
  return <ol class={kind}>{rows.map(children)}</ol>;
}

/** Names with what is said of each; without those of which nothing is. */
export function Facts({
  rows,
  kind = "facts",
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
  kind?: string;
}) {
  return (
    <dl class={kind}>
      {rows.map(
        ([name, value]) =>
          value && (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Figures side by side, each with its name and a word about it. */
export function Tiles({
  tiles,
}: {
  tiles: readonly (readonly [name: string, figure: string, about?: string])[];
}) {
  return (
    <dl class="tiles">
      {tiles.map(([name, figure, about]) => (
        <div class="card">
          <dt>{name}</dt>
          <dd class="figure">{figure}</dd>
          {about && <dd class="faint">{about}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Rows of numbers. */
export function NumberTable({
  kind,
  head,
  rows,
}: {
  kind?: string;
  head?: readonly string[];
  rows: readonly (readonly [name: ComponentChildren, ...numbers: number[]])[];
}) {
  return (
    <table class={kind}>
      {head && (
        <thead>
          <tr>
            {head.map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map(([name, ...numbers]) => (
          <tr>
            <th scope="row">{name}</th>
            {numbers.map((number) => (
              <td class="number">{count(number)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Link {
  /** @default the owner that is looked at */
  readonly owner?: Params | undefined;
  /** In a list where keys go from row to row. */
  readonly kind?: "row" | "row plain";
  readonly children: ComponentChildren;
}

/** A link to a memory. */
export function MemoryLink({ id, owner, kind, children }: Link & { id: string }) {
  const here = useHere();
  const href = hrefOf("memory", { ...(owner ?? here.owner), id });
  return (
    <a class={kind} href={href}>
      <bdi>{children}</bdi>
    </a>
  );
}

/** A link to a conversation, or to one of its messages. */
export function ThreadLink({
  owner,
  thread,
  seq,
  kind,
  children,
}: Link & {
  thread: string;
  seq?: number | undefined;
}) {
  const here = useHere();
  const at = String(seq ?? "");
  return (
    <a class={kind} href={hrefOf("thread", { ...(owner ?? here.owner), thread, around: at, at })}>
      {children}
    </a>
  );
}

/** A link to the words that something rests on. */
export function SourceLink({ owner, source }: { owner?: Params; source: Source }) {
  const { threadId, seqs } = source;
  return (
    <ThreadLink owner={owner} thread={threadId} seq={seqs[0]}>
      <bdi>{threadId}</bdi>
      {seqs.length > 0 && `, message ${seqs.join(", ")}`}
    </ThreadLink>
  );
}

/**
 * Parts in their order, each as wide as it is much of `most`; a line below says how much of it is
 * covered.
 */
export function Bar({
  parts,
  most,
  covered = 0,
  label,
}: {
  parts: readonly Part[];
  most: number;
  covered?: number;
  label: string;
}) {
  const width = (value: number) => ({ width: `${(100 * value) / Math.max(most, 1e-9)}%` });
  return (
    <div class="bar" role="img" aria-label={label}>
      {parts.map(
        ({ name, value, shade }) =>
          value > 0 && <div class={`shade-${shade}`} style={width(value)} title={name} />,
      )}
      {covered > 0 && <div class="covered" style={width(covered)} />}
    </div>
  );
}

interface Part {
  readonly name: string;
  readonly value: number;
  /** 0 to 4. */
  readonly shade: number;
}
