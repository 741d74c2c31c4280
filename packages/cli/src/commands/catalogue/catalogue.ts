import {
  channelModelsEnabled,
  drawingList,
  drawingListSelf,
  formatTime,
  groupList,
  modelsByType,
  pricingList,
  ROLE,
  selfGet,
  selfGroups,
  selfModels,
  taskList,
  taskListSelf,
  type AsyncTask,
  type Client,
  type Drawing,
  type PricingRow,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { moneyText } from "../../print/sheet.ts";
import { formatCell, number, plain, quota, time } from "../../print/columns.ts";
import { isForPeople, printList, printOne, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { typeNames } from "../channel/channel.ts";
import { printModels } from "../model-rows.ts";
import { printPart, type Part } from "../paging.ts";
import { usernames } from "../usernames.ts";

export async function listModels(client: Client, { all }: { readonly all?: boolean }, output: Output): Promise<void> {
  const { data } = all ? await client.call(channelModelsEnabled, {}) : await client.call(selfModels, {});
  await printModels(data.toSorted(), "No models. An enabled channel names some.", output);
}

interface TypeModels {
  readonly type: number;
  readonly name: string;
  readonly models: readonly string[];
}

const MAP_COLUMNS: readonly Column<TypeModels>[] = [
  number("TYPE", "type"),
  plain("NAME", "name"),
  { title: "MODELS", field: "models", value: ({ models }) => models.join(",") },
];

/** Returns the models that each type of upstream usually offers; only administrators see the names of the types. */
export async function mapModels(client: Client, { type }: { readonly type?: string }, output: Output): Promise<void> {
  const { data } = await client.call(modelsByType, {});
  const names = (await isAdmin(client)) ? await typeNames(client) : new Map<number, string>();
  const rows = Object.entries(data)
    .map(([number, models]) => ({ type: Number(number), name: names.get(Number(number)) ?? "", models }))
    .filter((row) => type === undefined || String(row.type) === type || row.name === type);
  const name = (row: TypeModels) => `channel-type/${row.type}`;
  const empty = "No kind of upstream matches. See `fairway channel types`.";
  await printList(output, { kind: "TypeModels", columns: MAP_COLUMNS, name, rows, empty });
}

export interface PriceOptions {
  readonly model?: string;
  readonly group?: string;
}

/** Prices for people: dollars per million tokens, before the group ratio. */
export function priceColumns(quotaPerUnit: number): readonly Column<PricingRow>[] {
  const isByCall = ({ quota_type: type }: PricingRow) => type === 1;
  const perMillion = (ratio: number) => `$${Number(((ratio * 1e6) / quotaPerUnit).toPrecision(6))}`;
  return [
    plain("MODEL", "model_name"),
    { title: "BY", value: (row) => (isByCall(row) ? "call" : "token") },
    { title: "IN/1M", isNumber: true, value: (row) => (isByCall(row) ? "-" : perMillion(row.model_ratio)) },
    {
      title: "OUT/1M",
      isNumber: true,
      value: (row) => (isByCall(row) ? "-" : perMillion(row.model_ratio * row.completion_ratio)),
    },
    { title: "CALL", isNumber: true, value: (row) => (isByCall(row) ? `$${row.model_price}` : "-") },
    { title: "GROUPS", value: (row) => row.enable_groups.join(",") },
  ];
}

/** Prices for programs. */
const PRICE_COLUMNS: readonly Column<PricingRow>[] = [
  plain("MODEL", "model_name"),
  { title: "BY", value: (row) => (row.quota_type === 1 ? "call" : "token") },
  { ...number("RATIO", "model_ratio"), value: (row) => (row.quota_type === 1 ? "-" : String(row.model_ratio)) },
  {
    ...number("COMPLETION", "completion_ratio"),
    value: (row) => (row.quota_type === 1 ? "-" : String(row.completion_ratio)),
  },
  { ...number("PRICE", "model_price"), value: (row) => (row.quota_type === 1 ? `$${row.model_price}` : "-") },
  { title: "GROUPS", value: (row) => row.enable_groups.join(",") },
];

const RATIOS: readonly string[] = ["RATIO", "COMPLETION"];

export async function listPrices(client: Client, { model, group }: PriceOptions, output: Output): Promise<void> {
  const { data } = await client.call(pricingList, {});
  const rows = data.filter(
    (row) =>
      (model === undefined || row.model_name.includes(model)) &&
      (group === undefined || row.enable_groups.includes(group)),
  );
  const name = (row: PricingRow) => `model/${row.model_name}`;
  const columns = isForPeople(output) ? priceColumns(await output.quotaPerUnit()) : PRICE_COLUMNS;
  const wide = isForPeople(output) ? PRICE_COLUMNS.filter(({ title }) => RATIOS.includes(title)) : [];
  await printList(output, { kind: "Price", columns, wide, name, rows, empty: "No prices match." });
}

export async function listGroups(client: Client, { all }: { readonly all?: boolean }, output: Output): Promise<void> {
  const rows = all
    ? (await client.call(groupList, {})).data.map((name) => ({ name, label: "" }))
    : Object.entries((await client.call(selfGroups, {})).data).map(([name, label]) => ({ name, label }));
  const name = (row: Group) => `group/${row.name}`;
  await printList(output, { kind: "Group", columns: GROUP_COLUMNS, name, rows, empty: "No groups." });
}

interface Group {
  readonly name: string;
  readonly label: string;
}

const GROUP_COLUMNS: readonly Column<Group>[] = [plain("NAME", "name"), plain("LABEL", "label")];

export interface TaskListOptions extends Part {
  readonly status?: string;
  readonly platform?: string;
  readonly task?: string;
}

const TASK_COLUMNS: readonly Column<AsyncTask>[] = [
  time("TIME", "submit_time"),
  plain("TASK", "task_id"),
  plain("PLATFORM", "platform"),
  plain("ACTION", "action"),
  plain("STATUS", "status"),
  plain("PROGRESS", "progress"),
  number("USER", "user_id"),
  quota("COST", "quota", 6),
  plain("REASON", "fail_reason"),
];

export async function listTasks(client: Client, options: TaskListOptions, output: Output): Promise<void> {
  const { status, platform, task: task_id } = options;
  const isAll = await isAdmin(client);
  const call = isAll ? taskList : taskListSelf;
  const query = { status, platform, task_id };
  const list = {
    kind: "Task",
    columns: TASK_COLUMNS,
    columnsFor: (rows: readonly AsyncTask[]) => withUsers(TASK_COLUMNS, rows, isAll ? client : undefined),
    name: (row: AsyncTask) => `task/${row.task_id}`,
    toShown: (row: AsyncTask) => row,
    empty: "No tasks match.",
  };
  await printPart(output, options, list, (page) => client.call(call, { query: { ...query, ...page } }));
}

const DRAWING_COLUMNS: readonly Column<Drawing>[] = [
  { title: "TIME", value: (row) => formatTime(Math.floor(row.submit_time / 1000)) },
  plain("TASK", "mj_id"),
  plain("ACTION", "action"),
  plain("STATUS", "status"),
  plain("PROGRESS", "progress"),
  number("USER", "user_id"),
  plain("PROMPT", "prompt"),
];

export async function listDrawings(client: Client, { task: mj_id, ...part }: TaskListOptions, output: Output) {
  const isAll = await isAdmin(client);
  const call = isAll ? drawingList : drawingListSelf;
  const list = {
    kind: "Drawing",
    columns: DRAWING_COLUMNS,
    columnsFor: (rows: readonly Drawing[]) => withUsers(DRAWING_COLUMNS, rows, isAll ? client : undefined),
    name: (row: Drawing) => `drawing/${row.mj_id}`,
    toShown: (row: Drawing) => row,
    empty: "No drawings match.",
  };
  await printPart(output, part, list, (page) => client.call(call, { query: { mj_id, ...page } }));
}

export async function getTask(client: Client, id: string, output: Output): Promise<void> {
  const call = (await isAdmin(client)) ? taskList : taskListSelf;
  const { data } = await client.call(call, { query: { task_id: id, page_size: 2 } });
  const found = data.find((row) => row.task_id === id);
  if (!found) throw notFound("task", id);
  const shape = { kind: "Task", columns: TASK_COLUMNS, name: () => `task/${id}` };
  if (!isForPeople(output)) return printOne(output, found, { shape });
  await printOne(output, found, { words: await formatMembers(found, output) });
}

export async function getDrawing(client: Client, id: string, output: Output): Promise<void> {
  const call = (await isAdmin(client)) ? drawingList : drawingListSelf;
  const { data } = await client.call(call, { query: { mj_id: id, page_size: 2 } });
  const found = data.find((row) => row.mj_id === id);
  if (!found) throw notFound("drawing", id);
  const shape = { kind: "Drawing", columns: DRAWING_COLUMNS, name: () => `drawing/${id}` };
  if (!isForPeople(output)) return printOne(output, found, { shape });
  await printOne(output, found, { words: await formatMembers(found, output) });
}

function notFound(noun: string, id: string): CliError {
  return new CliError(`there is no ${noun} ${id}`, EXIT.notFound, `list them with \`fairway ${noun} list\``);
}

/** Formats members by name, with readable amounts and times, without empty ones. */
async function formatMembers(row: AsyncTask | Drawing, output: Output): Promise<Record<string, string>> {
  const perUnit = await output.quotaPerUnit();
  const shown = Object.entries(row).flatMap(([name, value]: [string, unknown]) => {
    const isTime = name.endsWith("_time") || name.endsWith("_at");
    if (typeof value === "number" && isTime) return value > 0 ? [[name, timeText(value)]] : [];
    if (name === "quota") return [[name, moneyText(Number(value), perUnit)]];
    const text = formatCell(value);
    return text === "" || text === "null" ? [] : [[name, text]];
  });
  return Object.fromEntries(shown) as Record<string, string>;
}

/** Drawings use milliseconds, everything else seconds. */
function timeText(value: number): string {
  return formatTime(value > 1e11 ? Math.floor(value / 1000) : value);
}

/** Adds the names of users if an administrator reads the table. */
async function withUsers<Row extends { readonly user_id: number }>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  client: Client | undefined,
): Promise<readonly Column<Row>[]> {
  if (!client) return columns;
  const names = await usernames(
    client,
    rows.map(({ user_id: user }) => user),
  );
  const named = { title: "USER", value: ({ user_id: user }: Row) => names.get(user) ?? String(user) };
  return columns.map((column) => (column.field === "user_id" ? named : column));
}

async function isAdmin(client: Client): Promise<boolean> {
  return (await client.call(selfGet, {})).data.role >= ROLE.admin;
}
