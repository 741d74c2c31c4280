/** One metric of one process with its values. */
export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly values: readonly object[];
}

export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}
