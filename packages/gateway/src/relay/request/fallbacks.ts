/** A model that a request left, or that did not admit it. */
export interface FallbackHop {
  readonly model: string;
  /** Why it was left; for a model that was not called, the code of its refusal. */
  readonly outcome: string;
  /** True if the model was left out: it did not admit the request. */
  readonly isSkipped: boolean;
}

/** What the log records of a request that looked for another model. */
export interface FallbackNote {
  /** The model that the client asked for. */
  readonly from: string;
  /** Why the request left it. */
  readonly reason: string;
  readonly hops: readonly FallbackHop[];
}
