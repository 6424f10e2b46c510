/** A step of `explain (format json)`. The actual numbers need `analyze`. */
export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  /** "CTE " and the name of the CTE whose last step it is. */
  "Subplan Name"?: string;
  "Total Cost": number;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: PlanNode[];
}

export function planNodes(rows: readonly Record<string, [{ Plan: PlanNode }]>[]): PlanNode[] {
  const all = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)];
  return rows.flatMap((row) => all(row["QUERY PLAN"]![0].Plan));
}

/** Rows that a step read. */
export function rowsOf(node: PlanNode): number {
  const removed =
    (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
  return (node["Actual Rows"] + removed) * node["Actual Loops"];
}
