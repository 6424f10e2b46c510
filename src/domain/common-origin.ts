/** In whose run, and with which agent, something was said. */
export interface SaidIn {
  readonly agentId?: string | null | undefined;
  readonly runId?: string | null | undefined;
}

/**
 * The agent and the run that all of `said` have in common. What comes of several runs is not one of them's: then it has
 * none.
 */
export function commonOrigin(said: readonly SaidIn[]): { agentId?: string; runId?: string } {
  const agentId = common(said.map((each) => each.agentId));
  const runId = common(said.map((each) => each.runId));
  return { ...(agentId && { agentId }), ...(runId && { runId }) };
}

/** What all of `values` are; undefined where they differ, or there are none. */
export function common<Value>(values: readonly Value[]): Value | undefined {
  const [first, ...others] = values;
  return others.every((other) => other === first) ? first : undefined;
}
