import { CHANNEL_STATUS } from "@fairway/wire";
import type { Transaction } from "kysely";
import { recordEvent } from "../../events/record-event.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { inChunks } from "../../lib/chunks.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { insertRow } from "../../storage/inserts.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import type { Vault } from "../ports.ts";
import { rebuildAbilities } from "./abilities.ts";
import { checkReachable, parsedChannel, type CheckChange } from "./destination.ts";
import { channelFindings } from "./findings.ts";
import type { ChannelFields } from "./input.ts";
import { isOffWithLastKey, keyStore, statesAfter, statesWhenOn } from "./keys/store.ts";
import { channelRemovals } from "./removals.ts";
import { channelReads, findChannelKey, findChannelRow } from "./reads.ts";
import { DISABLE_ENDED, isPlainDisable, recordEnd, statusInfo, type StatusCause } from "./status-info.ts";
import { VIEW_COLUMNS, type ChannelRow } from "./view.ts";
import { openTexts, sealTexts, withoutTexts } from "../../storage/secrets/channel-texts.ts";
import { channelKey } from "../../storage/secrets/sealed-locations.ts";
import type { ChannelStoreDeps, Writing } from "./writing.ts";
import { storeSecrets } from "../../storage/secrets/store-secrets.ts";

/** The result of a channel update: the new row, or the reason for refusing it. */
export type UpdateOutcome = { readonly row: ChannelRow } | { readonly refused: "missing" | "stale" };

export interface UpdateOptions {
  /** The new key, sealed and stored if given. */
  readonly key?: NewKey | undefined;
  /** Refuses the change if the row has none of these versions. */
  readonly versions?: readonly string[] | undefined;
  readonly cause?: StatusCause | undefined;
  readonly check?: CheckChange | undefined;
  /** Throws to refuse; runs while the row is locked, before the change. */
  readonly require?: ((trx: Transaction<Schema>) => Promise<void>) | undefined;
  /** Keys that the channel did not have are switched off until a person switches them on. */
  readonly areNewKeysOff?: boolean;
}

/** The text of the keys, or a function that computes it from the stored text and the new type of the channel. */
export type NewKey = string | ((stored: string, type: number) => string);

export type ChannelStore = ReturnType<typeof createChannelStore>;

/** Fields that affect the routing rows. */
const ROUTING_FIELDS = [
  "models",
  "group",
  "status",
  "priority",
  "weight",
  "tag",
] as const satisfies readonly (keyof ChannelFields)[];
/** Fields that affect the addresses of a channel. */
const ADDRESS_FIELDS = [
  "type",
  "base_url",
  "other",
  "setting",
  "param_override",
  "header_override",
  "models",
  "model_mapping",
  "test_model",
] as const satisfies readonly (keyof ChannelFields)[];
const IDS_PER_STATEMENT = 1000;

/**
 * Creates the SQL of channels. Every write rebuilds the routing rows and raises the revision in its own transaction.
 */
export function createChannelStore(deps: ChannelStoreDeps) {
  const writing = { ...deps, write: createChannelWriter(deps) };
  return {
    ...channelReads(deps),
    ...changes(writing),
    ...removals(writing),
    ...channelFindings(deps, writing.write),
    ...keyStore(writing),
  };
}

/** Returns how channels are written: in one transaction that raises their revision, which all replicas then read. */
export function createChannelWriter({
  database,
  announce,
}: Pick<ChannelStoreDeps, "database" | "announce">): Writing["write"] {
  return async (work) => {
    const result = await transact(database.db, async (trx) => {
      // This comes first: its row makes the changes that build routing rows wait for each other.
      await bump(rawOn(trx, database.kind), database.kind, "channels");
      return work(trx);
    });
    await announce("channels");
    return result;
  };
}

function changes(writing: Writing) {
  const { write, vault, clock, refusesHost } = writing;
  return {
    /** Creates one channel per key, all or none. */
    create: (fields: ChannelFields, keys: readonly string[]): Promise<number[]> =>
      write(async (trx) => {
        for (const key of keys) checkReachable(refusesHost, parsedChannel(fields, key));
        const created: number[] = [];
        for (const key of keys) {
          const sealed = { key_sealed: "", key_hash: vault.hashKey(key) };
          const row = { ...withoutTexts(fields), ...sealed, created_time: seconds(clock), other_info: "" };
          const id = await insertRow(trx, "channels", row);
          await storeSecrets(trx, vault, id, { key, texts: fields });
          created.push(id);
        }
        await rebuildAbilities(
          trx,
          created.map((id) => ({ ...fields, id })),
        );
        return created;
      }),

    update: (id: number, patch: Partial<ChannelFields>, options: UpdateOptions = {}): Promise<UpdateOutcome> =>
      write((trx) => updateOne(trx, writing, id, { patch, ...options })),

    /**
     * Changes the channels that the ids name. `buildPatch` may throw a Refusal for a channel, which then stays
     * unchanged and gets the refusal as its outcome. Unknown ids have no outcome.
     */
    updateEach: (
      ids: readonly number[],
      buildPatch: (row: ChannelRow) => Partial<ChannelFields>,
      check?: CheckChange,
    ): Promise<ReadonlyMap<number, Refusal | undefined>> =>
      write(async (trx) => {
        const outcomes = new Map<number, Refusal | undefined>();
        for (const row of await readRows(trx, vault, ids)) {
          const refusal = await catchRefusal(async () => {
            await change(trx, writing, row, { patch: buildPatch(row), check });
          });
          outcomes.set(row.id, refusal);
        }
        return outcomes;
      }),

    /** Applies a change to every channel of a tag, or to none; returns the number of channels. */
    updateTag: (tag: string, patch: Partial<ChannelFields>, check?: CheckChange): Promise<number> =>
      write(async (trx) => {
        const rows = await trx
          .selectFrom("channels")
          .select(VIEW_COLUMNS)
          .where("tag", "=", tag)
          .orderBy("id")
          .execute();
        for (const row of rows) await change(trx, writing, openTexts(row, vault), { patch, check });
        return rows.length;
      }),
  };
}

async function updateOne(
  trx: Transaction<Schema>,
  writing: Writing,
  id: number,
  { versions, require, ...wanted }: UpdateOptions & { readonly patch: Partial<ChannelFields> },
): Promise<UpdateOutcome> {
  // The row is locked between the read and the write.
  await trx
    .updateTable("channels")
    .set((eb) => ({ version: eb.ref("version") }))
    .where("id", "=", id)
    .execute();
  const current = await findChannelRow(trx, writing.vault, id);
  if (!current) return { refused: "missing" };
  if (versions && !versions.includes(String(current.version))) return { refused: "stale" };
  await require?.(trx);
  return { row: await change(trx, writing, current, wanted) };
}

function removals(writing: Writing) {
  const { write } = writing;
  return {
    ...channelRemovals(writing),

    /** Rebuilds all routing rows and drops those of deleted channels; returns the number of channels. */
    rebuildAll: (): Promise<number> =>
      write(async (trx) => {
        const rows = await trx.selectFrom("channels").select(VIEW_COLUMNS).orderBy("id").execute();
        await trx.deleteFrom("abilities").execute();
        await rebuildAbilities(trx, rows);
        return rows.length;
      }),

    /** Changes a channel's status as the system, unless it changed in the meantime; returns whether it did. */
    switchBySystem: (id: number, from: number, to: number, reason: string): Promise<boolean> =>
      write(async (trx) => {
        const row = await switchRow(trx, writing, { id, from: { status: from }, to, reason });
        if (row) await recordSwitch(trx, row, { clock: writing.clock, reason });
        return row !== undefined;
      }),

    /**
     * Enables a channel that was disabled for a time, unless it changed in the meantime, and records this as done by
     * the system.
     */
    endDisable: (id: number, otherInfo: string): Promise<boolean> =>
      write(async (trx) => {
        const from = { status: CHANNEL_STATUS.disabledByHand, other_info: otherInfo };
        const row = await switchRow(trx, writing, { id, from, to: CHANNEL_STATUS.enabled, reason: DISABLE_ENDED });
        if (row) await recordEnd({ database: { db: trx }, clock: writing.clock }, row, otherInfo);
        return row !== undefined;
      }),
  };
}

interface SystemSwitch {
  readonly id: number;
  /** Values that these columns must still have. */
  readonly from: Partial<Pick<ChannelRow, "status" | "other_info">>;
  readonly to: number;
  readonly reason: string;
}

async function recordSwitch(
  trx: Transaction<Schema>,
  { id, name, status, version }: ChannelRow,
  { clock, reason }: { readonly clock: Clock; readonly reason: string },
): Promise<void> {
  const type = status === CHANNEL_STATUS.enabled ? "channel.enabled" : "channel.disabled";
  const data = { id, name, by: "system", reason };
  await recordEvent(trx, { type, atMs: clock.now(), dedupKey: `${type}:${id}:${version}`, data });
}

/** Returns the row after the status change; undefined if the channel changed in the meantime. */
async function switchRow(
  trx: Transaction<Schema>,
  { vault, clock }: Writing,
  { id, from, to, reason }: SystemSwitch,
): Promise<ChannelRow | undefined> {
  const other_info = statusInfo({ reason }, seconds(clock));
  const { numUpdatedRows } = await trx
    .updateTable("channels")
    .set((eb) => ({ status: to, other_info, version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .where((eb) => eb.and({ ...from }))
    .executeTakeFirstOrThrow();
  const row = numUpdatedRows > 0n ? await findChannelRow(trx, vault, id) : undefined;
  if (row && to === CHANNEL_STATUS.enabled) await reviveKeys(trx, vault, id);
  if (row) await rebuildAbilities(trx, [row]);
  return row;
}

interface Change {
  readonly patch: Partial<ChannelFields>;
  readonly key?: NewKey | undefined;
  readonly cause?: StatusCause | undefined;
  readonly check?: CheckChange | undefined;
  readonly areNewKeysOff?: boolean;
}

/** Writes nothing if `check` throws. */
async function change(
  trx: Transaction<Schema>,
  writing: Writing,
  current: ChannelRow,
  { patch, key, cause, check, areNewKeysOff = false }: Change,
): Promise<ChannelRow> {
  const { vault, clock } = writing;
  const isSwitched = isOtherStatus(current, patch.status, cause) || isPlainDisable(current, patch);
  const next = {
    ...patch,
    ...(isSwitched ? { other_info: statusInfo(cause, seconds(clock)) } : {}),
    version: current.version + 1,
  };
  const row = { ...current, ...next };
  const text = await checkedKeys(trx, writing, { current, next: row, patch, key, check });
  const sealed = text === undefined ? {} : await sealedKey(trx, writing, { id: current.id, key: text, areNewKeysOff });
  await trx
    .updateTable("channels")
    .set({ ...sealTexts(next, current.id, vault), ...sealed })
    .where("id", "=", current.id)
    .execute();
  if (isSwitched && patch.status === CHANNEL_STATUS.enabled) await reviveKeys(trx, vault, current.id);
  if (ROUTING_FIELDS.some((field) => patch[field] !== undefined && patch[field] !== current[field]))
    await rebuildAbilities(trx, [row]);
  return row;
}

type Move = Change & { readonly current: ChannelRow; readonly next: ChannelRow };

/** Returns the new keys, undefined if they do not change, after checking the servers that get them. */
async function checkedKeys(
  trx: Transaction<Schema>,
  { vault, refusesHost }: Writing,
  { current, next, patch, key, check }: Move,
): Promise<string | undefined> {
  if (key === undefined && ADDRESS_FIELDS.every((field) => patch[field] === undefined)) return undefined;
  const keys = (await findChannelKey(trx, vault, current.id)) ?? "";
  check?.({ current, next, keys, areKeysReplaced: typeof key === "string" });
  const text = typeof key === "function" ? key(keys, next.type) : key;
  checkReachable(refusesHost, parsedChannel(next, text ?? keys), readable(current, keys));
  return text;
}

/** Returns undefined for a row that the relay cannot parse either. */
function readable(row: ChannelRow, keys: string): ChannelRecord | undefined {
  try {
    return parsedChannel(row, keys);
  } catch {
    return undefined;
  }
}

function isOtherStatus(current: ChannelRow, status: number | undefined, cause: StatusCause | undefined): boolean {
  if (status === undefined) return false;
  return status !== current.status || cause !== undefined || isOffWithLastKey(current.other_info);
}

interface StoredKeys {
  readonly id: number;
  readonly key: string;
  readonly areNewKeysOff: boolean;
}

async function sealedKey(trx: Transaction<Schema>, { vault, clock }: Writing, { id, key, areNewKeysOff }: StoredKeys) {
  const off = { status: CHANNEL_STATUS.disabledByHand, reason: "", time: seconds(clock) };
  const info = await statesAfter(trx, vault, { id, key, ...(areNewKeysOff && { added: off }) });
  const states = info === undefined ? {} : { channel_info: info };
  return { key_sealed: vault.seal(key, channelKey(id)), key_hash: vault.hashKey(key), ...states };
}

async function reviveKeys(trx: Transaction<Schema>, vault: Vault, id: number): Promise<void> {
  const info = await statesWhenOn(trx, vault, id);
  if (info !== undefined) await trx.updateTable("channels").set({ channel_info: info }).where("id", "=", id).execute();
}

async function readRows(trx: Transaction<Schema>, vault: Vault, ids: readonly number[]): Promise<ChannelRow[]> {
  const rows: ChannelRow[] = [];
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b);
  for (const some of inChunks(sorted, IDS_PER_STATEMENT)) {
    rows.push(
      ...(await trx.selectFrom("channels").select(VIEW_COLUMNS).where("id", "in", some).orderBy("id").execute()),
    );
  }
  return rows.map((row) => openTexts(row, vault));
}

/** Returns the refusal that the work throws; undefined if it succeeds. */
async function catchRefusal(work: () => Promise<void>): Promise<Refusal | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
