import { isObject, parseObject } from "../lib/text/json.ts";

/** Why a key of a multi-key channel is not in use. */
export interface KeyState {
  /** 2 = disabled by hand, 3 = disabled by the system. */
  readonly status: number;
  readonly reason: string;
  /** Epoch seconds. */
  readonly time: number;
}

/** By index in the key text of the channel; keys in use are absent. */
export type KeyStates = ReadonlyMap<number, KeyState>;

/** Field names of compatible gateways. */
const STATUS = "multi_key_status_list";
const REASON = "multi_key_disabled_reason";
const TIME = "multi_key_disabled_time";

const NONE: KeyStates = new Map();

/** Reads `channel_info` and skips invalid entries. */
export function readKeyStates(info: string | null): KeyStates {
  const read = info === null ? undefined : parseObject(info);
  const statuses = read?.[STATUS];
  if (!read || !isObject(statuses)) return NONE;
  const states = new Map<number, KeyState>();
  for (const [index, status] of Object.entries(statuses)) {
    if (!/^\d{1,6}$/.test(index) || (status !== 2 && status !== 3)) continue;
    const reason = member(read[REASON], index);
    const time = member(read[TIME], index);
    states.set(Number(index), {
      status,
      reason: typeof reason === "string" ? reason : "",
      time: typeof time === "number" ? time : 0,
    });
  }
  return states;
}

/** Returns the text for `readKeyStates`; other members of the previous text are preserved. */
export function keyStatesText(states: KeyStates, former: string | null): string | null {
  const { [STATUS]: _status, [REASON]: _reason, [TIME]: _time, ...rest } = (former && parseObject(former)) || {};
  const of = (name: keyof KeyState) => Object.fromEntries([...states].map(([index, state]) => [index, state[name]]));
  const attributes = states.size === 0 ? {} : { [STATUS]: of("status"), [REASON]: of("reason"), [TIME]: of("time") };
  const info = { ...rest, ...attributes };
  return Object.keys(info).length === 0 ? null : JSON.stringify(info);
}

/** Returns the indexes of the keys in use; undefined = all. */
export function keysInUse(count: number, states: KeyStates): readonly number[] | undefined {
  const used = Array.from({ length: count }, (_, index) => index).filter((index) => !states.has(index));
  return used.length === count ? undefined : used;
}

/** Returns the states after the key text was replaced: remaining keys retain their state. */
export function movedStates(states: KeyStates, before: readonly string[], after: readonly string[]): KeyStates {
  const moved = new Map<number, KeyState>();
  for (const [index, state] of states) {
    const key = before[index];
    const place = key === undefined ? -1 : after.indexOf(key);
    if (place >= 0) moved.set(place, state);
  }
  return moved;
}

function member(from: unknown, name: string): unknown {
  return isObject(from) ? from[name] : undefined;
}
