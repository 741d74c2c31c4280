import {
  CHANNEL_STATUS,
  channelUpdate,
  LOG_TYPE,
  logExplain,
  logExplainSelf,
  logList,
  logListSelf,
  type LogRow,
} from "@fairway/wire";
import { objectIn } from "../../../core/json.ts";
import { formatCell } from "../../../print/columns.ts";
import { asDollars, withDollars } from "../../../print/sheet.ts";
import type { Column } from "../../../print/table.ts";
import type { SessionClient } from "../../../session/session.ts";
import { explainLines } from "../../log/explain.ts";
import { logShape } from "../../log/log.ts";
import type { LogQuery } from "../../log/query.ts";
import { FILE_FIELDS, writeRows } from "./log-file.ts";
import { createLogQueries, filterFields } from "./log-filter.ts";
import { formatMembers, resource, type Resource, type Seen } from "./resource.ts";

/** Rows of a page; the key `m` reads as many again. */
const LIMIT = 100;

export function logs(client: SessionClient, { isAdmin, quotaPerUnit }: Seen): Resource {
  const shape = logShape(isAdmin);
  const columns = asDollars(inNarrowOrder(shape.columns), quotaPerUnit);
  const buildQuery = createLogQueries(client, isAdmin);
  const explain = async (row: LogRow, width: number) => {
    if (row.request_id === "") return undefined;
    const { data } = isAdmin
      ? await client.call(logExplain, { params: { id: row.id } })
      : await client.call(logExplainSelf, { params: { request: row.request_id } });
    return explainLines(data, width, quotaPerUnit);
  };
  const switched = (id: number, status: number) => () => client.call(channelUpdate, { body: { id, status } });
  const list = resource<LogRow>({
    name: "logs",
    page: "/log",
    aliases: ["log"],
    columns,
    wide: [FIRST_TOKEN, ...(shape.wide ?? []), STATUS, REASON],
    rows: async (wanted) => readPages(client, await buildQuery(wanted), wanted.pages),
    getRowKey: ({ id, request_id: request }) => `${id} ${request}`,
    getRowId: ({ id, request_id: request }) => (request === "" ? String(id) : request),
    getRowLabel: ({ channel, channel_name: name, request_id: request }) =>
      isAdmin && channel > 0 ? `channel ${channel} (${name ?? ""})` : `call ${request}`,
    isOff: ({ type }) => type === LOG_TYPE.error,
    detail: async (row, width) => (await explain(row, width)) ?? formatMembers(row),
    actions: ({ channel }) =>
      isAdmin && channel > 0
        ? {
            enable: switched(channel, CHANNEL_STATUS.enabled),
            disable: switched(channel, CHANNEL_STATUS.disabledByHand),
          }
        : {},
    filters: {
      fields: filterFields(isAdmin),
      check: async (query) => void (await buildQuery({ query, scope: undefined })),
    },
    writes: {
      fields: FILE_FIELDS,
      async write(values, wanted, shown) {
        const all = [...columns, FIRST_TOKEN, ...(shape.wide ?? []), STATUS, REASON];
        const isShown = (row: LogRow) => wanted.isShown(all.map(({ value }) => value(row)));
        const query = await buildQuery(wanted.wanted);
        const { readWholeExport } = await import("../../log/exported.ts");
        return writeRows(values, wanted, {
          columns: withDollars([...shape.columns, ...(shape.wide ?? [])], quotaPerUnit),
          shown,
          readAll: (take) =>
            readWholeExport(
              client,
              query,
              (row) => (isShown(row) ? take(row) : true),
              () => undefined,
            ),
        });
      },
    },
  });
  return withFailingColumns(list);
}

/** What a failing call was, why it failed and what it cost fits 80 columns. */
const FAILING_TITLES = ["TIME", "STATUS", "REASON", "COST", "MODEL", "CHANNEL", "TOKEN", "USER", "SECS"];

function withFailingColumns(list: Resource): Resource {
  const failing = FAILING_TITLES.flatMap((title) => (list.titles.includes(title) ? list.titles.indexOf(title) : []));
  const fixed = list.titles.map((title, at) => title === REASON.title || list.fixed?.[at] === true);
  return { ...list, failing, fixed };
}

const STATUS: Column<LogRow> = {
  title: "STATUS",
  isNumber: true,
  value: ({ type, other }) => (type === LOG_TYPE.error ? formatCell(objectIn(other)?.["status_code"]) : ""),
};

/** The longest codes are about as long. */
const LONGEST_REASON = 32;

/** The code of a failure; the first words of its text where an older row has none. */
const REASON: Column<LogRow> = {
  title: "REASON",
  value: ({ type, content, other }) =>
    type === LOG_TYPE.error ? formatCell(objectIn(other)?.["error_code"] || content).slice(0, LONGEST_REASON) : "",
};

/** A narrow terminal drops columns from the end, so what a call was and what it cost comes first. */
const FIRST_TITLES = ["TIME", "TYPE", "MODEL", "COST", "CHANNEL", "TOKEN"];

function inNarrowOrder(columns: readonly Column<LogRow>[]): Column<LogRow>[] {
  const rankColumn = ({ title }: Column<LogRow>) => {
    const place = FIRST_TITLES.indexOf(title);
    return place < 0 ? FIRST_TITLES.length : place;
  };
  return columns.toSorted((one, other) => rankColumn(one) - rankColumn(other));
}

/** Only streamed calls have a first token. */
const FIRST_TOKEN: Column<LogRow> = {
  title: "1ST TOKEN",
  isNumber: true,
  value: ({ is_stream: isStream, other }) => (isStream ? (/"frt":(\d+)/.exec(other)?.[1] ?? "-") : "-"),
};

async function readPages(client: SessionClient, { isAdmin, filter }: LogQuery, pages: number) {
  const rows: LogRow[] = [];
  let before: string | undefined;
  for (let page = 0; page < pages && before !== ""; page++) {
    const query = { ...filter, before, page_size: LIMIT };
    const { data } = await client.call(isAdmin ? logList : logListSelf, { query });
    rows.push(...data.items);
    before = data.next;
  }
  return { rows, isCut: before !== "" };
}
