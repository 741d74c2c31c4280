/** A call about one stored response. */
export interface StoredCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly id: string;
  /** The path after the id. */
  readonly rest: "" | "/cancel" | "/input_items";
}
