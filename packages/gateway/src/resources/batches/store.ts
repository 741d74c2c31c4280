import { BATCH_PHASES, type Batch, type BatchPhaseName, type BatchReserve, type BatchTotals } from "@fairway/wire";
import { UNSETTLED } from "../../batches/store.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
import { findOutcome } from "../../batches/record-end.ts";
import type { BatchRow } from "../../batches/row.ts";
import type { Database } from "../../storage/database.ts";
import { containing, like } from "../../storage/like.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";

export interface BatchQuery extends PageQuery {
  /** 0 = all users. */
  readonly user_id: number;
  /** 0 = all tokens. */
  readonly token_id: number;
  /** 0 = all channels. */
  readonly channel_id: number;
  readonly phase: string;
  readonly model: string;
  /** Epoch seconds; 0 = no limit. */
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

/** Whose batches to sum, and when they were settled. */
export interface TotalsQuery extends Pick<BatchQuery, "start_timestamp" | "end_timestamp"> {
  /** Undefined = everyone. */
  readonly userId: number | undefined;
}

export type BatchStore = ReturnType<typeof createBatchStore>;

const SORTABLE = [
  "created_at",
  "ended_at",
  "expires_at",
  "total",
  "deposit",
  "charged",
  "saved",
  "phase",
  "user_id",
  "channel_id",
] as const;
const SUMMED = ["succeeded", "charged", "saved"] as const;
const NUMBERS = ["user_id", "token_id", "channel_id"] as const;

/** What no row has; some databases refuse to compare other texts. */
const NO_PHASE = "?" as BatchPhaseName;

export function createBatchStore({ database: { db } }: { readonly database: Database }) {
  const matching = (query: BatchQuery) => {
    const { phase, model, start_timestamp: start, end_timestamp: end } = query;
    let rows = db.selectFrom("batches");
    for (const column of NUMBERS) if (query[column] > 0) rows = rows.where(column, "=", query[column]);
    if (phase !== "") rows = rows.where("phase", "=", BATCH_PHASES.find((name) => name === phase) ?? NO_PHASE);
    // The column is a JSON object with the names of the models as members.
    if (model !== "") rows = rows.where(like("models", containing(`${JSON.stringify(model)}:{`)));
    if (start > 0) rows = rows.where("created_at", ">=", start);
    if (end > 0) rows = rows.where("created_at", "<=", end);
    return rows;
  };
  return {
    /** Sums what a user has deposited for batches that are not settled. */
    async reserve(userId: number): Promise<BatchReserve> {
      const row = await db
        .selectFrom("batches")
        .select((eb) => [eb.fn.countAll<number>().as("batches"), eb.fn.sum<number | null>("deposit").as("deposit")])
        .where("user_id", "=", userId)
        .where("phase", "in", UNSETTLED)
        .executeTakeFirstOrThrow();
      return { batches: Number(row.batches), deposit: Number(row.deposit ?? 0) };
    },
    async totals({ userId, start_timestamp: start, end_timestamp: end }: TotalsQuery): Promise<BatchTotals> {
      const all = db.selectFrom("batches");
      const own = userId === undefined ? all : all.where("user_id", "=", userId);
      let settled = own.where("phase", "=", "settled");
      if (start > 0) settled = settled.where("settled_at", ">=", start);
      if (end > 0) settled = settled.where("settled_at", "<=", end);
      const [held, booked] = await Promise.all([
        own
          .where("phase", "in", UNSETTLED)
          .select((eb) => [eb.fn.countAll<number>().as("open"), eb.fn.sum<number | null>("deposit").as("deposit")])
          .executeTakeFirstOrThrow(),
        settled
          .select((eb) => eb.fn.countAll<number>().as("settled"))
          .select((eb) => SUMMED.map((name) => eb.fn.sum<number | null>(name).as(name)))
          .executeTakeFirstOrThrow(),
      ]);
      // A sum of no rows is null.
      return {
        open: Number(held.open),
        deposit: Number(held.deposit ?? 0),
        settled: Number(booked.settled),
        succeeded: Number(booked.succeeded ?? 0),
        charged: Number(booked.charged ?? 0),
        saved: Number(booked.saved ?? 0),
      };
    },
    async page(query: BatchQuery): Promise<{ rows: Batch[]; total: number }> {
      // Ids are random, so their order is none.
      const sort = SORTABLE.find((name) => name === query.sort) ?? "created_at";
      const { rows, total } = await sortedPage(matching(query), SORTABLE, { ...query, sort });
      return { rows: rows.map(toBatch), total };
    },
  };
}

/** Leaves out how the upstream names the batch, what it said, and the exact prices. */
export function toBatch(row: BatchRow): Batch {
  const {
    key_mark: _mark,
    upstream_id: _id,
    wire: _wire,
    terms: _terms,
    body_hash: _hash,
    polled_at: _polled,
    failures: _failures,
    models,
    metadata,
    ...rest
  } = row;
  return { ...rest, outcome: findOutcome(row), models: readModels(models), metadata: parseObject(metadata) ?? {} };
}

/** Leaves out the upstream's names of the models. */
function readModels(text: string): Batch["models"] {
  const models = Object.entries(parseObject(text) ?? {});
  return Object.fromEntries(
    models.map(([name, stored]) => {
      const count = (member: string) => {
        const value = isObject(stored) ? stored[member] : undefined;
        return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
      };
      const figures = { items: count("items"), estimate: count("estimate"), uncapped: count("uncapped") };
      return [name, { ...figures, prompt_tokens: count("promptTokens") }];
    }),
  );
}
