import { setTimeout as pause } from "node:timers/promises";

interface WarningLog {
  warn(message: string, fields: { readonly part: string; readonly error: unknown }): void;
}

/**
 * One step of an orderly stop. What fails or does not end is named in the log and left behind, so that the steps after
 * it come: a database that is silent would hold all of them up. It sets no limit for what still runs meanwhile.
 */
export async function stopInTime(
  log: WarningLog,
  part: string,
  ms: number,
  stop: () => Promise<unknown> | void,
): Promise<void> {
  const over = new AbortController();
  const late = pause(ms, undefined, over).then(
    () => Promise.reject(new Error(`it did not end within ${ms} ms`)),
    () => undefined,
  );
  try {
    await Promise.race([Promise.try(stop), late]);
  } catch (error) {
    log.warn("a part did not end in order, the stop goes on", { part, error });
  } finally {
    over.abort();
  }
}
