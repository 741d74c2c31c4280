import { setTimeout as pause } from "node:timers/promises";
import type { Outbound } from "../../../lib/net/outbound.ts";
import { parseJson } from "../../../lib/text/json.ts";

/** A gateway that cannot be read; the message is for the operator and has nothing of the token. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
}

export interface ServerPlace {
  /** Without a slash at the end. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly outbound: Pick<Outbound, "fetch">;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Gateways of this family let an address make a few calls a second; the rest of a long list waits. */
const WAIT_MS = 10_000;
const MAX_WAITS = 60;
const TOO_MANY = 429;

/** Makes one reading call; returns its JSON, or undefined for an answer that is no JSON or an error status. */
export async function readServer(place: ServerPlace, path: string): Promise<unknown> {
  for (let waits = 0; ; waits++) {
    place.signal.throwIfAborted();
    const response = await reach(place, path);
    if (response.status !== TOO_MANY || waits === MAX_WAITS) {
      if (response.status === 401 || response.status === 403) throw new ServerProblem(sayRefused(place, path));
      return response.ok ? parseJson(await response.text()) : undefined;
    }
    await pause(WAIT_MS, undefined, { signal: place.signal });
  }
}

async function reach({ address, headers, outbound }: ServerPlace, path: string): Promise<Response> {
  try {
    const call = { method: "GET", url: `${address}${path}`, headers, maxBytes: MAX_BYTES } as const;
    return await outbound.fetch({ ...call, timeoutMs: TIMEOUT_MS });
  } catch (cause) {
    const reason = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
    throw new ServerProblem(`${host(address)} cannot be reached${reason}`, { cause });
  }
}

function sayRefused({ address }: ServerPlace, path: string): string {
  return `${host(address)} does not accept the token for ${path.split("?", 1)[0]}`;
}

export function host(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
