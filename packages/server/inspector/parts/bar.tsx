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
