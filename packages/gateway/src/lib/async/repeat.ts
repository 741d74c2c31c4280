import type { Runnable } from "./runnable.ts";

export interface RepeatSettings {
  readonly name: string;
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number;
  readonly work: () => Promise<void>;
  /** Called when a run failed; the next run is not affected. */
  readonly onError: (error: unknown) => void;
}

/** Runs `work` again and again, never twice at once. The first run comes after the first pause. */
export function repeat({ name, everyMs, work, onError }: RepeatSettings): Runnable {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const later = () => {
    timer = setTimeout(() => {
      running = work()
        .catch(onError)
        .finally(() => {
          if (timer) later();
        });
    }, everyMs).unref();
  };
  return {
    name,
    start: later,
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await running;
    },
  };
}
