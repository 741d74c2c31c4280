import { CHANNEL_STATUS, keyNumber } from "@fairway/wire";
import type { Transaction } from "kysely";
import { recordEvent } from "../../../events/record-event.ts";
import { seconds } from "../../../lib/clock.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { splitKeys } from "../../../snapshot/channel-record.ts";
import {
  keyStatesText,
  movedStates,
  readKeyStates,
  type KeyState,
  type KeyStates,
} from "../../../snapshot/key-states.ts";
import type { Schema } from "../../../storage/tables/schema.ts";
import type { Vault } from "../../ports.ts";
import { rebuildAbilities } from "../abilities.ts";
import type { Writing } from "../writing.ts";
import { findChannelRow } from "../reads.ts";
import type { ChannelRow } from "../view.ts";
import { channelKey } from "../../../storage/secrets/sealed-locations.ts";

/** The keys of a channel in clear, with the states of the disabled ones. */
export interface KeySet {
  readonly keys: readonly string[];
  readonly states: KeyStates;
}

/** A key whose status changed; `isLast` if its channel was disabled with it. */
export interface SwitchedKey {
  readonly row: ChannelRow;
  readonly index: number;
  readonly isLast: boolean;
}

export interface KeySwitch {
  readonly status: number;
  readonly reason: string;
}

type Trx = Pick<Transaction<Schema>, "selectFrom">;

/** Creates the SQL of single upstream keys. */
export function keyStore({ database: { db }, vault, clock, write }: Writing) {
  return {
    /** Returns undefined for an unknown channel. */
    keySet: (id: number): Promise<KeySet | undefined> => readKeySet(db, vault, id),

    /**
     * Changes the status of one key, given by its index or its text. Returns `only` if the channel has no other key,
     * and `unchanged` if there is no such key or it already has this status; the system cannot change a key that was
     * disabled by hand. The channel is disabled with its last key and enabled with its first.
     */
    async switchKey(id: number, which: number | string, to: KeySwitch): Promise<SwitchedKey | "only" | "unchanged"> {
      const now = await readKeySet(db, vault, id);
      const seen = now && placeToSwitch(now, which, to);
      if (typeof seen !== "number") return seen ?? "unchanged";
      return write(async (trx) => {
        // The row is locked before it is read, because replicas may disable two keys at once.
        await trx
          .updateTable("channels")
          .set((eb) => ({ version: eb("version", "+", 1) }))
          .where("id", "=", id)
          .execute();
        const set = await readKeySet(trx, vault, id);
        const index = set && placeToSwitch(set, which, to);
        if (!set || typeof index !== "number") return index === "only" ? index : "unchanged";
        const states = new Map(set.states);
        if (to.status === CHANNEL_STATUS.enabled) states.delete(index);
        else states.set(index, { ...to, time: seconds(clock) });
        const written = await writeStates(trx, id, set, { states, to, time: seconds(clock), vault });
        await recordKeySwitch(trx, { index, set, to, row: written.row, atMs: clock.now() });
        return { index, ...written };
      });
    },
  };
}

interface KeySwitched {
  readonly index: number;
  /** The keys and the status of the channel before. */
  readonly set: StoredKeySet;
  readonly to: KeySwitch;
  readonly row: ChannelRow;
  readonly atMs: number;
}

/** Operators hear of what the gateway switched off, and of its return; not of what they did themselves. */
async function recordKeySwitch(
  trx: Transaction<Schema>,
  { index, set, to, row: { id, name, status, version }, atMs }: KeySwitched,
): Promise<void> {
  const wasOff = set.status === CHANNEL_STATUS.disabledBySystem;
  if (to.status === CHANNEL_STATUS.disabledBySystem) {
    const type = "channel.key_disabled";
    const data = { id, name, number: keyNumber(index), by: "system", reason: to.reason };
    await recordEvent(trx, { type, atMs, dedupKey: `${type}:${id}:${version}`, data });
  }
  if (status === set.status || (status !== CHANNEL_STATUS.disabledBySystem && !wasOff)) return;
  const type = status === CHANNEL_STATUS.enabled ? "channel.enabled" : "channel.disabled";
  const data = { id, name, by: "system", reason: to.reason };
  await recordEvent(trx, { type, atMs, dedupKey: `${type}:${id}:${version}`, data });
}

/** Member of `other_info`. The reason does not suffice: imported rows have reasons of states that ended long ago. */
const WITH_LAST_KEY = "with_last_key";

/** Returns true while a channel is disabled only because its last key was disabled. */
export function isOffWithLastKey(otherInfo: string): boolean {
  return parseObject(otherInfo)?.[WITH_LAST_KEY] === true;
}

type StoredKeySet = NonNullable<Awaited<ReturnType<typeof readKeySet>>>;

interface Written {
  readonly states: KeyStates;
  readonly to: KeySwitch;
  readonly time: number;
  readonly vault: Vault;
}

async function writeStates(
  trx: Transaction<Schema>,
  id: number,
  { keys, states: before, info, otherInfo, status }: StoredKeySet,
  { states, to, time, vault }: Written,
): Promise<{ readonly row: ChannelRow; readonly isLast: boolean }> {
  const isLast = states.size === keys.length && status === CHANNEL_STATUS.enabled;
  const comesBack = status === CHANNEL_STATUS.disabledBySystem || isOffWithLastKey(otherInfo);
  const isFirst = before.size === keys.length && states.size < keys.length && comesBack;
  const next = isLast ? to.status : isFirst ? CHANNEL_STATUS.enabled : status;
  const reasons = isLast
    ? { status_reason: ["All keys are disabled", to.reason].filter(Boolean).join("; "), [WITH_LAST_KEY]: true }
    : { status_reason: "" };
  const other_info = next === status ? otherInfo : JSON.stringify({ ...reasons, status_time: time });
  const change = { channel_info: keyStatesText(states, info), status: next, other_info };
  await trx.updateTable("channels").set(change).where("id", "=", id).execute();
  const row = await findChannelRow(trx, vault, id);
  if (!row) throw new Error(`the channel ${id} no longer exists although its row is locked`);
  if (next !== status) await rebuildAbilities(trx, [row]);
  return { row, isLast };
}

function placeToSwitch({ keys, states }: KeySet, which: number | string, to: KeySwitch): number | "only" | undefined {
  if (keys.length < 2) return "only";
  const index = typeof which === "number" ? which : keys.indexOf(which);
  if (index < 0 || index >= keys.length) return undefined;
  const { status = CHANNEL_STATUS.enabled } = states.get(index) ?? {};
  const isByHand = status === CHANNEL_STATUS.disabledByHand && to.status === CHANNEL_STATUS.disabledBySystem;
  return status === to.status || isByHand ? undefined : index;
}

interface NewKeys {
  readonly id: number;
  readonly key: string;
  /** The state of keys that the channel did not have; without it they are in use. */
  readonly added?: KeyState;
}

/** Returns the states of the keys after the key text changes; an enabled channel retains a usable key. */
export async function statesAfter(
  trx: Trx,
  vault: Vault,
  { id, key, added }: NewKeys,
): Promise<string | null | undefined> {
  const set = await readKeySet(trx, vault, id);
  if (!set || (set.states.size === 0 && !added)) return undefined;
  const keys = splitKeys(key, set.type);
  const news = added ? keys.flatMap((one, index) => (set.keys.includes(one) ? [] : [[index, added] as const])) : [];
  const moved = new Map([...movedStates(set.states, set.keys, keys), ...news]);
  const isWithout = set.status === CHANNEL_STATUS.enabled && moved.size >= keys.length;
  return keyStatesText(isWithout ? triedAgain(moved, keys.length) : moved, set.info);
}

/**
 * Returns the states of the keys of a channel that is enabled: if none is usable, those that the system disabled are
 * retried.
 */
export async function statesWhenOn(trx: Trx, vault: Vault, id: number): Promise<string | null | undefined> {
  const set = await readKeySet(trx, vault, id);
  if (!set || set.states.size < set.keys.length) return undefined;
  return keyStatesText(triedAgain(set.states, set.keys.length), set.info);
}

/** Enables keys that the system disabled; keys disabled by hand stay disabled, unless no other key is left. */
function triedAgain(states: KeyStates, count: number): KeyStates {
  const byHand = [...states].filter(([, { status }]) => status === CHANNEL_STATUS.disabledByHand);
  return new Map(byHand.length < count ? byHand : []);
}

async function readKeySet(db: Trx, vault: Vault, id: number) {
  const row = await db
    .selectFrom("channels")
    .select(["type", "status", "key_sealed", "channel_info", "other_info"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { type, status, channel_info: info, other_info: otherInfo } = row;
  const keys = splitKeys(vault.open(row.key_sealed, channelKey(id)), type);
  const states = new Map([...readKeyStates(info)].filter(([index]) => index < keys.length));
  return { keys, states, info, otherInfo, status, type };
}
