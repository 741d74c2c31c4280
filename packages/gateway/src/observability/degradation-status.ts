/** What a part does now: its ordinary work, or what its option says for outages. */
export interface DegradationStatus {
  readonly part: string;
  /** Value of the option. */
  readonly mode: string;
  readonly isNormal: boolean;
  readonly detail: string;
}
