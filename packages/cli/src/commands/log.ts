import { formatTime, LOG_TYPE, logList, logListSelf, ROLE, selfGet, type Client, type LogRow } from "@fairway/wire";
import { CliError, EXIT } from "../exit.ts";
import { printList, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";

const TYPE_NUMBER: Readonly<Record<string, number>> = {
  topup: LOG_TYPE.topup,
  consume: LOG_TYPE.consume,
  manage: LOG_TYPE.manage,
  system: LOG_TYPE.system,
};
const TYPE_WORD = new Map(Object.entries(TYPE_NUMBER).map(([word, number]) => [number, word]));
const PAGE = 100;

const COLUMNS: readonly Column<LogRow>[] = [
  { title: "TIME", value: (row) => formatTime(row.created_at) },
  { title: "TYPE", value: (row) => TYPE_WORD.get(row.type) ?? String(row.type) },
  { title: "USER", value: (row) => row.username },
  { title: "TOKEN", value: (row) => row.token_name },
  { title: "MODEL", value: (row) => row.model_name },
  { title: "IN", value: (row) => String(row.prompt_tokens), isNumber: true },
  { title: "OUT", value: (row) => String(row.completion_tokens), isNumber: true },
  { title: "QUOTA", value: (row) => String(row.quota), isNumber: true },
  { title: "SECONDS", value: (row) => String(row.use_time), isNumber: true },
  { title: "CONTENT", value: (row) => row.content },
];

export interface LogListOptions {
  readonly type?: string;
  readonly user?: string;
  readonly token?: string;
  readonly model?: string;
  readonly since?: string;
  readonly limit: number;
}

/** Administrators see all rows, everybody else their own. */
export async function listLogs(
  client: Client,
  options: LogListOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const { data: self } = await client.call(selfGet, {});
  const isAdmin = self.role >= ROLE.admin;
  const filter = {
    type: typeOf(options.type),
    token_name: options.token,
    model_name: options.model,
    start_timestamp: options.since === undefined ? 0 : nowSeconds - spanOf(options.since),
  };
  if (options.user !== undefined && !isAdmin)
    throw new CliError("--user is for administrators", EXIT.forbidden, "leave it out to list your own rows");
  const rows: LogRow[] = [];
  let before: string | undefined;
  do {
    const query = { ...filter, before, page_size: Math.min(PAGE, options.limit) };
    const { data } = isAdmin
      ? await client.call(logList, { query: { ...query, username: options.user } })
      : await client.call(logListSelf, { query });
    // The rows of an owner are numbered by page.
    const numbered = isAdmin ? data.items : data.items.map((row, at) => ({ ...row, id: rows.length + at + 1 }));
    rows.push(...numbered);
    before = data.next;
  } while (before !== "" && rows.length < options.limit);
  printList(output, { kind: "Log", columns: COLUMNS, rows: rows.slice(0, options.limit), empty: "No log rows match." });
}

function typeOf(word: string | undefined): number {
  if (word === undefined) return 0;
  const number = TYPE_NUMBER[word];
  if (number === undefined)
    throw new CliError(`--type ${word} is unknown`, EXIT.usage, `write one of ${Object.keys(TYPE_NUMBER).join(", ")}`);
  return number;
}

function spanOf(text: string): number {
  const span = /^(\d+)([smhd])$/.exec(text);
  if (!span) throw new CliError(`--since ${text} is no time span`, EXIT.usage, "write 15m, 1h or 7d");
  return Number(span[1]) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[span[2] ?? "s"] ?? 1);
}
