/** Something with a life of its own; `app.ts` starts them in order and stops them in reverse. */
export interface Runnable {
  readonly name: string;
  start(): Promise<void> | void;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void> | void;
}
