import {
  ACCOUNT_KIND,
  CHANNEL_STATUS,
  FORECAST_CAP,
  FORECAST_DAYS,
  FORECAST_PACE_DAYS,
  TOKEN_STATUS,
  USER_STATUS,
  type Forecast,
} from "@fairway/wire";
import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import { DAY, DIMENSION, type DimensionNumber } from "./dimensions.ts";

export interface ForecastDeps {
  readonly database: Database;
  /** Quota units of a dollar. */
  readonly quotaPerUnit: () => number;
}

/** The pace of one subject. */
interface Pace {
  readonly perDay: number;
}

interface Holding {
  readonly kind: Forecast["kind"];
  readonly id: number;
  readonly name: string;
  readonly owner_id: number;
  readonly left: number;
  /** Epoch seconds at which this much was left. */
  readonly at: number;
  /** Quota units a day. */
  readonly perDay: number;
}

/** Subjects whose pace is read; more would not fit on a page that people read. */
const MAX_SUBJECTS = 5_000;
const IDS_PER_STATEMENT = 500;

/**
 * Returns what runs out within the next days at the pace of the last ones. The sums of whole days are enough for a pace
 * and are few rows, however many requests there were.
 */
export async function readForecasts(deps: ForecastDeps, now: number): Promise<Forecast[]> {
  const holdings = await Promise.all([readTokens(deps, now), readUsers(deps, now), readChannels(deps, now)]);
  return holdings
    .flat()
    .map(({ at, perDay, left, ...holding }) => ({
      ...holding,
      left: Math.round(left),
      per_day: Math.round(perDay),
      runs_out_at: left <= 0 ? at : Math.ceil(at + (left / perDay) * DAY),
    }))
    .filter(({ per_day: perDay, runs_out_at: at }) => perDay > 0 && at <= now + FORECAST_DAYS * DAY)
    .toSorted((a, b) => a.runs_out_at - b.runs_out_at || a.id - b.id)
    .slice(0, FORECAST_CAP);
}

/** Returns what each subject spends a day, over the days since its first request in the period. */
async function readPaces(
  { database: { raw } }: ForecastDeps,
  dimension: DimensionNumber,
  now: number,
): Promise<ReadonlyMap<number, Pace>> {
  const from = Math.floor((now - FORECAST_PACE_DAYS * DAY) / DAY) * DAY;
  const rows = await raw.rows<{ readonly subject: string; readonly quota: number; readonly first: number }>(
    `select subject, sum(quota) as quota, min(start) as first from usage_statistics
     where span = ? and dimension = ? and start >= ? group by subject order by quota desc limit ${MAX_SUBJECTS}`,
    [DAY, dimension, from],
  );
  return new Map(
    rows
      .filter(({ quota }) => Number(quota) > 0)
      .map(({ subject, quota, first }) => {
        // Less than a day says little: a first hour of tests is not a pace.
        const days = Math.max(1, (now - Number(first)) / DAY);
        return [Number(subject), { perDay: Number(quota) / days }];
      }),
  );
}

async function readTokens(deps: ForecastDeps, now: number): Promise<Holding[]> {
  const paces = await readPaces(deps, DIMENSION.token, now);
  const found: Holding[] = [];
  for (const ids of inChunks([...paces.keys()], IDS_PER_STATEMENT)) {
    const rows = await deps.database.db
      .selectFrom("tokens")
      .select(["id", "name", "user_id", "remain_quota"])
      .where("id", "in", ids)
      .where("unlimited_quota", "=", 0)
      .where("status", "in", [TOKEN_STATUS.enabled, TOKEN_STATUS.exhausted])
      .where("deleted_at", "is", null)
      .execute();
    for (const { id, name, user_id, remain_quota: left } of rows)
      found.push({ kind: "token", id, name, owner_id: user_id, left, at: now, perDay: paces.get(id)?.perDay ?? 0 });
  }
  return found;
}

async function readUsers(deps: ForecastDeps, now: number): Promise<Holding[]> {
  const paces = await readPaces(deps, DIMENSION.user, now);
  const found: Holding[] = [];
  for (const ids of inChunks([...paces.keys()], IDS_PER_STATEMENT)) {
    const rows = await deps.database.db
      .selectFrom("users")
      .select(["id", "username", "quota"])
      .where("id", "in", ids)
      .where("kind", "=", ACCOUNT_KIND.person)
      .where("status", "=", USER_STATUS.enabled)
      .where("deleted_at", "is", null)
      .execute();
    for (const { id, username, quota } of rows)
      found.push({
        kind: "user",
        id,
        name: username,
        owner_id: 0,
        left: quota,
        at: now,
        perDay: paces.get(id)?.perDay ?? 0,
      });
  }
  return found;
}

/** A channel pays its provider the list price times its cost ratio. Its balance was read at some time in the past. */
async function readChannels(deps: ForecastDeps, now: number): Promise<Holding[]> {
  const paces = await readPaces(deps, DIMENSION.channel, now);
  const unit = deps.quotaPerUnit();
  const rows = await deps.database.db
    .selectFrom("channels")
    .select(["id", "name", "balance", "balance_updated_time", "cost_ratio"])
    .where("status", "=", CHANNEL_STATUS.enabled)
    .where("balance_updated_time", ">", 0)
    .execute();
  return rows.flatMap(({ id, name, balance, balance_updated_time: at, cost_ratio: ratio }) => {
    const perDay = (paces.get(id)?.perDay ?? 0) * Number(ratio);
    return perDay > 0 ? [{ kind: "channel" as const, id, name, owner_id: 0, left: balance * unit, at, perDay }] : [];
  });
}
