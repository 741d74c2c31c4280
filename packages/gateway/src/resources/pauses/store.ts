import { CHANNEL_STATUS, PAUSE_ENDS, type ChannelPause, type PauseEnd } from "@fairway/wire";
import type { Selectable, Transaction } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { ChannelPauseTable } from "../../storage/tables/schema-pauses.ts";
import { rebuildAbilities } from "../channels/abilities.ts";
import { createChannelWriter } from "../channels/store.ts";
import type { Announce } from "../ports.ts";

export interface PauseStoreDeps {
  readonly database: Database;
  readonly announce: Announce;
  readonly clock: Clock;
}

export type PauseRow = Selectable<ChannelPauseTable>;

export interface NewPause {
  readonly userId: number;
  readonly username: string;
  readonly reason: string;
  /** Epoch seconds; 0 = no time. */
  readonly until: number;
  readonly untilTests: boolean;
}

/** The cause of a channel's status that a pause writes, and by which it knows its channels again. */
const STATUS_REASON = "Paused";
const IDS_PER_STATEMENT = 500;
/** Ended pauses that a list has. */
const MAX_ENDED = 20;

export type PauseStore = ReturnType<typeof createPauseStore>;

/**
 * Creates the SQL of pauses. A pause marks its channels with its id, so that only those that no user changed in the
 * meantime come back.
 */
export function createPauseStore(deps: PauseStoreDeps) {
  return { ...createWrites(deps), ...createReads(deps) };
}

function createWrites(deps: PauseStoreDeps) {
  const { database, clock } = deps;
  const { db } = database;
  const write = createChannelWriter(deps);
  return {
    /** Switches the enabled ones of these channels off, all at once; returns undefined if there are none. */
    create: (ids: readonly number[], pause: NewPause): Promise<number | undefined> =>
      write(async (trx) => {
        const enabled = await readChannels(trx, ids, CHANNEL_STATUS.enabled);
        if (enabled.length === 0) return undefined;
        const at = seconds(clock);
        const id = await insertRow(trx, "channel_pauses", {
          created_at: at,
          user_id: pause.userId,
          username: pause.username,
          reason: pause.reason,
          until_at: pause.until,
          until_tests: pause.untilTests ? 1 : 0,
          tested_at: 0,
          channels: JSON.stringify(enabled.map((channel) => channel.id)),
          ended_at: 0,
          ended_how: "",
        });
        const reason = pause.reason === "" ? STATUS_REASON : `${STATUS_REASON}: ${pause.reason}`;
        const info = { status_reason: reason, status_time: at, pause: id };
        await switchAll(trx, enabled, { status: CHANNEL_STATUS.disabledByHand, info });
        return id;
      }),

    /** Switches channels of a pause on again; returns the ids of those that it still held. */
    resume: (pause: PauseRow, ids: readonly number[] = readIds(pause)): Promise<number[]> =>
      write(async (trx) => {
        const held = (await readChannels(trx, ids, CHANNEL_STATUS.disabledByHand)).filter(
          ({ other_info }) => readPause(other_info) === pause.id,
        );
        const info = { status_reason: "", status_time: seconds(clock) };
        await switchAll(trx, held, { status: CHANNEL_STATUS.enabled, info });
        return held.map(({ id }) => id);
      }),

    /** Ends a pause; returns false if it has ended already. */
    async end(id: number, how: PauseEnd): Promise<boolean> {
      const values = { ended_at: seconds(clock), ended_how: how };
      const done = db.updateTable("channel_pauses").set(values).where("id", "=", id).where("ended_at", "=", 0);
      return (await done.executeTakeFirstOrThrow()).numUpdatedRows > 0n;
    },

    async noteTests(id: number): Promise<void> {
      await db
        .updateTable("channel_pauses")
        .set({ tested_at: seconds(clock) })
        .where("id", "=", id)
        .execute();
    },
  };
}

function createReads({ database: { db } }: Pick<PauseStoreDeps, "database">) {
  return {
    find: (id: number): Promise<PauseRow | undefined> =>
      db.selectFrom("channel_pauses").selectAll().where("id", "=", id).executeTakeFirst(),

    listRunning: (): Promise<PauseRow[]> =>
      db.selectFrom("channel_pauses").selectAll().where("ended_at", "=", 0).orderBy("id", "desc").execute(),

    listEnded: (): Promise<PauseRow[]> =>
      db
        .selectFrom("channel_pauses")
        .selectAll()
        .where("ended_at", ">", 0)
        .orderBy("ended_at", "desc")
        .orderBy("id", "desc")
        .limit(MAX_ENDED)
        .execute(),

    /** Returns the ids of the channels that a pause still holds. */
    async listHeld(pause: PauseRow): Promise<number[]> {
      const rows = await readChannels(db, readIds(pause), CHANNEL_STATUS.disabledByHand);
      return rows.filter(({ other_info }) => readPause(other_info) === pause.id).map(({ id }) => id);
    },

    /** Returns pauses as responses show them. */
    async show(rows: readonly PauseRow[]): Promise<ChannelPause[]> {
      const ids = [...new Set(rows.flatMap(readIds))];
      const channels = new Map((await readChannels(db, ids)).map((row) => [row.id, row]));
      return rows.map((row) => ({
        id: row.id,
        created_at: row.created_at,
        created_by: row.username,
        reason: row.reason,
        until: row.until_at,
        until_tests: row.until_tests === 1,
        channels: readIds(row).flatMap((id) => {
          const channel = channels.get(id);
          if (!channel) return [];
          return { id, name: channel.name, paused: row.ended_at === 0 && readPause(channel.other_info) === row.id };
        }),
        ended_at: row.ended_at,
        end: PAUSE_ENDS.find((end) => end === row.ended_how) ?? "",
      }));
    },
  };
}

type Reads = Pick<Transaction<Schema>, "selectFrom">;

const COLUMNS = ["id", "name", "status", "models", "group", "priority", "weight", "tag", "other_info"] as const;

async function readChannels(db: Reads, ids: readonly number[], status?: number) {
  const found = [];
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b);
  for (const some of inChunks(sorted, IDS_PER_STATEMENT)) {
    const rows = db.selectFrom("channels").select(COLUMNS).where("id", "in", some).orderBy("id");
    found.push(...(await (status === undefined ? rows : rows.where("status", "=", status)).execute()));
  }
  return found;
}

interface Switch {
  readonly status: number;
  readonly info: object;
}

async function switchAll(
  trx: Transaction<Schema>,
  rows: Awaited<ReturnType<typeof readChannels>>,
  { status, info }: Switch,
): Promise<void> {
  for (const some of inChunks(rows, IDS_PER_STATEMENT)) {
    const ids = some.map(({ id }) => id);
    await trx
      .updateTable("channels")
      .set((eb) => ({ status, other_info: JSON.stringify(info), version: eb("version", "+", 1) }))
      .where("id", "in", ids)
      .execute();
  }
  await rebuildAbilities(
    trx,
    rows.map((row) => ({ ...row, status })),
  );
}

function readIds({ channels }: PauseRow): number[] {
  const ids: unknown = JSON.parse(channels);
  return Array.isArray(ids) ? ids.filter((id): id is number => typeof id === "number") : [];
}

/** Returns the id of the pause that set this status. */
function readPause(otherInfo: string): number | undefined {
  const id = parseObject(otherInfo)?.["pause"];
  return typeof id === "number" ? id : undefined;
}
