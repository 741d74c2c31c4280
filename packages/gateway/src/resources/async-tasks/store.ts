import type { AsyncTask } from "@fairway/wire";
import type { Selectable } from "kysely";
import type { Database } from "../../storage/database.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";
import type { TaskTable } from "../../storage/tables/schema.ts";

export interface TaskQuery extends PageQuery {
  /** 0 = all users. */
  readonly userId: number;
  readonly task_id: string;
  readonly platform: string;
  readonly action: string;
  readonly status: string;
  /** 0 = all channels. */
  readonly channel_id: number;
  /** Epoch seconds; 0 = no limit. */
  readonly start_timestamp: number;
  readonly end_timestamp: number;
}

export type TaskStore = ReturnType<typeof createTaskStore>;

const SORTABLE = ["id", "submit_time", "finish_time", "status", "action", "channel_id"] as const;
const EXACT = ["task_id", "platform", "action", "status"] as const;

export function createTaskStore({ database: { db } }: { readonly database: Database }) {
  const matching = (query: TaskQuery) => {
    let rows = db.selectFrom("tasks");
    if (query.userId > 0) rows = rows.where("user_id", "=", query.userId);
    for (const column of EXACT) if (query[column] !== "") rows = rows.where(column, "=", query[column]);
    if (query.channel_id > 0) rows = rows.where("channel_id", "=", query.channel_id);
    if (query.start_timestamp > 0) rows = rows.where("submit_time", ">=", query.start_timestamp);
    return query.end_timestamp > 0 ? rows.where("submit_time", "<=", query.end_timestamp) : rows;
  };
  return {
    async page(query: TaskQuery): Promise<{ rows: AsyncTask[]; total: number }> {
      const { rows, total } = await sortedPage(matching(query), SORTABLE, query);
      return { rows: rows.map(toAsyncTask), total };
    },
  };
}

function toAsyncTask(row: Selectable<TaskTable>): AsyncTask {
  const { token_id: _token, request_id: _request, charged: _charged, refunded: _refunded, ...rest } = row;
  return { ...rest, properties: parseStoredJson(row.properties), data: parseStoredJson(row.data) };
}

/** Parses a stored upstream response; text that is not JSON is returned as text. */
function parseStoredJson(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
