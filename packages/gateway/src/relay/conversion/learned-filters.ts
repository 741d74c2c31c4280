// Hosts refuse names that no list contains yet. The gateway sends the same call again without the name, and for a day
// leaves it out for this model on this channel. Each process learns on its own.
import type { ChannelRecord } from "../../providers/core/types.ts";

const REMEMBERED_MS = 86_400_000;
const MAX_REMEMBERED = 200;

/** A name that the host of a channel refused for a model. */
interface LearnedName {
  readonly host: string;
  readonly model: string;
  /** `anthropic-beta:NAME`, the path of a member, or `tools:TYPE`. */
  readonly name: string;
  /** Epoch milliseconds, like `until`. */
  readonly since: number;
  readonly until: number;
}

type NamedChannel = Pick<ChannelRecord, "id" | "baseUrl">;

interface Learned {
  readonly channelKey: string;
  /** By name, the oldest first. */
  readonly names: Map<string, LearnedName>;
}

/** By channel and model; at most `MAX_REMEMBERED` names in all. */
const learned = new Map<string, Learned>();

/** Names that another address refused say nothing about this one. */
function buildChannelKey({ id, baseUrl }: NamedChannel): string {
  return `${id} ${baseUrl}`;
}

function buildFilterKey(channel: NamedChannel, model: string): string {
  return `${buildChannelKey(channel)} ${model}`;
}

/** Undefined if nothing was refused. */
export function learnedNames(channel: NamedChannel, model: string, now: number): ReadonlySet<string> | undefined {
  if (learned.size === 0) return undefined;
  const found = learned.get(buildFilterKey(channel, model));
  if (!found) return undefined;
  const current = [...found.names.values()].filter(({ until }) => until > now);
  return current.length === 0 ? undefined : new Set(current.map(({ name }) => name));
}

interface Refused {
  readonly host: string;
  readonly model: string;
  readonly names: readonly string[];
}

/** True if a name is new: a call that is refused for a name that it no longer has is not sent again. */
export function learnNames(channel: NamedChannel, { host, model, names }: Refused, now: number): boolean {
  const known = learnedNames(channel, model, now);
  const more = names.filter((name) => known?.has(name) !== true);
  if (more.length === 0) return false;
  const key = buildFilterKey(channel, model);
  const entry = learned.get(key) ?? { channelKey: buildChannelKey(channel), names: new Map<string, LearnedName>() };
  learned.set(key, entry);
  for (const name of more) {
    entry.names.delete(name);
    entry.names.set(name, { host, model, name, since: now, until: now + REMEMBERED_MS });
  }
  forgetOldest(now);
  return true;
}

/** Returns the names in force for a channel, by model and name. */
export function listLearned(channel: NamedChannel, now: number): readonly LearnedName[] {
  const own = buildChannelKey(channel);
  return [...learned.values()]
    .filter(({ channelKey }) => channelKey === own)
    .flatMap(({ names }) => [...names.values()])
    .filter(({ until }) => until > now)
    .toSorted((one, other) => compare(one.model, other.model) || compare(one.name, other.name));
}

/** Forgets all names, or only the given model and name; returns how many names in force are sent again. */
export function forgetLearned(
  channel: NamedChannel,
  { model, name }: { readonly model?: string | undefined; readonly name?: string | undefined },
  now: number,
): number {
  const gone = listLearned(channel, now).filter(
    (one) => (model === undefined || one.model === model) && (name === undefined || one.name === name),
  );
  for (const one of gone) drop(buildFilterKey(channel, one.model), one.name);
  return gone.length;
}

function drop(key: string, name: string): void {
  const entry = learned.get(key);
  entry?.names.delete(name);
  if (entry?.names.size === 0) learned.delete(key);
}

/** Clients choose the names, so their number over all channels is bounded. */
function forgetOldest(now: number): void {
  const all = [...learned].flatMap(([key, { names }]) => [...names.values()].map((one) => ({ key, ...one })));
  const current = all.filter(({ until }) => until > now);
  const oldest = current.toSorted((one, other) => one.since - other.since).slice(0, -MAX_REMEMBERED);
  for (const { key, name } of [...all.filter(({ until }) => until <= now), ...oldest]) drop(key, name);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
