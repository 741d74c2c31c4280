// Hosts refuse what no list says of them yet. The same call is sent again without it, and for a day the model is asked
// without it on that channel.
import type { ChannelRecord } from "../../providers/core/types.ts";

const REMEMBERED_MS = 86_400_000;
const MAX_REMEMBERED = 200;

interface Learned {
  readonly names: ReadonlySet<string>;
  /** Epoch milliseconds. */
  readonly until: number;
}

const learned = new Map<string, Learned>();

function keyOf({ id, baseUrl }: ChannelRecord, model: string): string {
  return `${id} ${baseUrl} ${model}`;
}

/** Undefined while nothing was refused. */
export function learnedNames(channel: ChannelRecord, model: string, now: number): ReadonlySet<string> | undefined {
  if (learned.size === 0) return undefined;
  const found = learned.get(keyOf(channel, model));
  return found !== undefined && found.until > now ? found.names : undefined;
}

/** True where a name is new: a call that is refused for a name that it no longer has is not sent again. */
export function learnNames(channel: ChannelRecord, model: string, names: readonly string[], now: number): boolean {
  const known = learnedNames(channel, model, now) ?? new Set<string>();
  const more = names.filter((name) => !known.has(name));
  if (more.length === 0) return false;
  const key = keyOf(channel, model);
  const [oldest] = learned.keys();
  if (learned.size >= MAX_REMEMBERED && !learned.has(key) && oldest !== undefined) learned.delete(oldest);
  learned.set(key, { names: new Set([...known, ...more]), until: now + REMEMBERED_MS });
  return true;
}
