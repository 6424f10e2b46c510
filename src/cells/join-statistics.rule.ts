import type { DatabaseStatus } from "../postgres/circuit-breaker.js";
import type { HeldStatus } from "../search/held/held-status.js";
import { latest, sums } from "./join-counts.rule.js";

/** The worst of several databases. */
export function joinStatus(parts: readonly DatabaseStatus[]): DatabaseStatus {
  return parts.reduce((worst, part) => {
    if (part.state !== worst.state) return part.state === "paused" ? part : worst;
    if (part.state === "paused") return (part.retryInMs ?? 0) > (worst.retryInMs ?? 0) ? part : worst;
    return part.failures > worst.failures ? part : worst;
  });
}

/** Most owners that a status lists. */
const mostListed = 100;

/** What one process holds of several cells. */
export function joinHeld(parts: readonly HeldStatus[]): HeldStatus {
  const [first] = parts as [HeldStatus];
  const total = sums(
    parts.map(({ owners, memories, bytes, mostBytes, loading }) => ({
      ...{ owners, memories, bytes, mostBytes, loading },
    })),
  );
  return {
    enabled: first.enabled,
    ...total,
    served: sums(parts.map(({ served }) => ({ ...served }))),
    letGo: sums(parts.map(({ letGo }) => ({ ...letGo }))),
    list: latest(
      parts.flatMap(({ list }) => list),
      ({ lastUsedAt }) => lastUsedAt,
      mostListed,
    ),
  };
}
