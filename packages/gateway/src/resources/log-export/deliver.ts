import type { Send, Sending, Sent } from "../../lib/net/send.ts";
import { isTimeLimit } from "../../lib/net/time-limit.ts";
import { ExportError } from "./destination.ts";

const TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_SECONDS = 3_600;

export interface Delivery extends Sending {
  readonly send: Send;
  /** Name of the variable with the address. */
  readonly variable: string;
}

/** Sends a batch. Throws ExportError if there is no response. */
export async function deliver({ send, variable, ...sending }: Delivery): Promise<Sent> {
  const { signal } = sending;
  try {
    return await send({ ...sending, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  } catch (error) {
    signal.throwIfAborted();
    const isLate = isTimeLimit(error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "no connection";
    const what = isLate ? `no answer within ${TIMEOUT_MS / 1_000} s` : code;
    throw new ExportError("unreachable", `${what}: start it, or correct ${variable}`);
  }
}

/** Returns the wait in milliseconds that the response requests. */
export function readRetryAfter(sent: Sent): number | undefined {
  const seconds = Number(sent.header("retry-after"));
  return seconds > 0 ? Math.min(seconds, LONGEST_PAUSE_SECONDS) * 1_000 : undefined;
}
