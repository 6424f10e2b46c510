/** A step of a plan as `explain (format json)` gives it; what was counted only with `analyze`. */
export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  /** "CTE " and the name of the part whose last step it is. */
  "Subplan Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

/** Every step of the plan in the answer to `explain (format json)`. */
export function planNodes(rows: readonly Record<string, [{ Plan: PlanNode }]>[]): PlanNode[] {
  const all = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)];
  return rows.flatMap((row) => all(row["QUERY PLAN"]![0].Plan));
}

/** Rows that a step went through. */
export function rowsOf(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}
