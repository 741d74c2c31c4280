/** A component with its own lifecycle; `app.ts` starts components in order and stops them in reverse. */
export interface Runnable {
  readonly name: string;
  start(): Promise<void> | void;
  /** Resolves when all its work has stopped. */
  stop(): Promise<void> | void;
}
