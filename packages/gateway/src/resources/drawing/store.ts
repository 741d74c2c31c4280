import type { Drawing } from "@fairway/wire";
import type { Selectable } from "kysely";
import type { Database } from "../../storage/database.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";
import type { MidjourneyTable } from "../../storage/tables/schema.ts";

export interface DrawingQuery extends PageQuery {
  /** 0 = all users. */
  readonly userId: number;
  readonly mj_id: string;
  /** 0 = all channels. */
  readonly channel_id: number;
  /** Epoch milliseconds; 0 = no limit. */
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

export type DrawingStore = ReturnType<typeof createDrawingStore>;

const SORTABLE = ["id", "submit_time", "finish_time", "status", "action", "channel_id"] as const;

export function createDrawingStore({ database: { db } }: { readonly database: Database }) {
  const matching = (query: DrawingQuery) => {
    let rows = db.selectFrom("midjourneys");
    if (query.userId > 0) rows = rows.where("user_id", "=", query.userId);
    if (query.mj_id !== "") rows = rows.where("mj_id", "=", query.mj_id);
    if (query.channel_id > 0) rows = rows.where("channel_id", "=", query.channel_id);
    if (query.start_timestamp > 0) rows = rows.where("submit_time", ">=", query.start_timestamp);
    return query.end_timestamp > 0 ? rows.where("submit_time", "<=", query.end_timestamp) : rows;
  };
  return {
    async page(query: DrawingQuery): Promise<{ rows: Drawing[]; total: number }> {
      const { rows, total } = await sortedPage(matching(query), SORTABLE, query);
      return { rows: rows.map(toDrawing), total };
    },
  };
}

function toDrawing(row: Selectable<MidjourneyTable>): Drawing {
  const { token_id: _token, request_id: _request, charged: _charged, refunded: _refunded, ...rest } = row;
  return rest;
}
