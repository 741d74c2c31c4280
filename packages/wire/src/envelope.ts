/** `{success, message, data}`: the shape of every JSON answer under `/api`. */
export interface Envelope<D> {
  readonly success: boolean;
  readonly message: string;
  readonly data?: D;
  /** Stable code of a refusal (see `messages.ts`), so that clients can translate it. */
  readonly code?: string;
  /** Name of the input field that a refusal concerns. */
  readonly field?: string;
}
