import type { Clock } from "../../lib/clock.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import { isObject } from "../../lib/text/json.ts";

/** Finds a public key of GitHub's secret scanning; undefined for an unknown identifier. */
export type FindPublicKey = (apiUrl: string, identifier: string) => Promise<string | undefined>;

const PATH = "/meta/public_keys/secret_scanning";
const LIFE_MS = 3_600_000;
/** An unknown identifier may belong to a new key; forged ones must not cause a call each. */
const RETRY_MS = 60_000;

interface Known {
  readonly apiUrl: string;
  readonly keys: ReadonlyMap<string, string>;
  readonly readAt: number;
}

/** Reads the public keys at the first report, then once an hour, and once more for an identifier that is unknown. */
export function createPublicKeys({ outbound, clock }: { outbound: Outbound; clock: Clock }): FindPublicKey {
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;
  const read = async (apiUrl: string): Promise<Known> => {
    const answer = await outbound.json({ method: "GET", url: `${apiUrl.replace(/\/+$/, "")}${PATH}` });
    return { apiUrl, keys: parseKeys(answer?.["public_keys"]), readAt: clock.now() };
  };
  const refresh = async (apiUrl: string): Promise<Known> => {
    reading ??= read(apiUrl).finally(() => (reading = undefined));
    return (known = await reading);
  };
  return async (apiUrl, identifier) => {
    const age = known?.apiUrl === apiUrl ? clock.now() - known.readAt : Infinity;
    const current = known && age < LIFE_MS ? known : await refresh(apiUrl);
    const found = current.keys.get(identifier);
    if (found !== undefined || clock.now() - current.readAt < RETRY_MS) return found;
    return (await refresh(apiUrl)).keys.get(identifier);
  };
}

function parseKeys(value: unknown): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const entry of Array.isArray(value) ? (value as unknown[]) : []) {
    if (!isObject(entry)) continue;
    const { key_identifier: identifier, key } = entry;
    if (typeof identifier === "string" && typeof key === "string") keys.set(identifier, key);
  }
  return keys;
}
