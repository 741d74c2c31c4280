import { setTimeout as pause } from "node:timers/promises";

interface WarningLog {
  warn(message: string, fields: { readonly part: string; readonly error: unknown }): void;
}

/**
 * Runs one step of an orderly stop. A step that fails or does not finish in time is logged and abandoned, so that a
 * silent database does not block the following steps.
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
    log.warn("a part did not stop in order; the shutdown continues", { part, error });
  } finally {
    over.abort();
  }
}
