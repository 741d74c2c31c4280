/** The current mode of a part: normal, or its configured outage behaviour. */
export interface DegradationStatus {
  readonly part: string;
  /** Value of the option. */
  readonly mode: string;
  readonly isNormal: boolean;
  readonly detail: string;
}
