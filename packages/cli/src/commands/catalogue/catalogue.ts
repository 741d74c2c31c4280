import {
  channelModelsEnabled,
  drawingList,
  drawingListSelf,
  formatTime,
  groupList,
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
import { number, plain, quota, time } from "../../print/columns.ts";
import { printList, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { rowsUpTo } from "../paging.ts";

export async function listModels(client: Client, { all }: { readonly all?: boolean }, output: Output): Promise<void> {
  const { data } = all ? await client.call(channelModelsEnabled, {}) : await client.call(selfModels, {});
  await printModels(data.toSorted(), "No models. An enabled channel names some.", output);
}

interface Model {
  readonly model: string;
}

const MODEL_COLUMNS: readonly Column<Model>[] = [plain("MODEL", "model")];

/** Names of models as a list of objects. */
export async function printModels(models: readonly string[], empty: string, output: Output): Promise<void> {
  const rows = models.map((model) => ({ model }));
  const name = ({ model }: Model) => `model/${model}`;
  await printList(output, { kind: "Model", columns: MODEL_COLUMNS, name, rows, empty });
}

export interface PriceOptions {
  readonly model?: string;
  readonly group?: string;
}

/** How prices are printed. */
export const PRICE_COLUMNS: readonly Column<PricingRow>[] = [
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

export async function listPrices(client: Client, { model, group }: PriceOptions, output: Output): Promise<void> {
  const { data } = await client.call(pricingList, {});
  const rows = data.filter(
    (row) =>
      (model === undefined || row.model_name.includes(model)) &&
      (group === undefined || row.enable_groups.includes(group)),
  );
  const name = (row: PricingRow) => `model/${row.model_name}`;
  await printList(output, { kind: "Price", columns: PRICE_COLUMNS, name, rows, empty: "No prices match." });
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

export interface TaskListOptions {
  readonly status?: string;
  readonly platform?: string;
  readonly task?: string;
  readonly limit: number;
}

const TASK_COLUMNS: readonly Column<AsyncTask>[] = [
  time("TIME", "submit_time"),
  plain("TASK", "task_id"),
  plain("PLATFORM", "platform"),
  plain("ACTION", "action"),
  plain("STATUS", "status"),
  plain("PROGRESS", "progress"),
  number("USER", "user_id"),
  quota("QUOTA", "quota"),
  plain("REASON", "fail_reason"),
];

export async function listTasks(client: Client, options: TaskListOptions, output: Output): Promise<void> {
  const { status, platform, task: task_id, limit } = options;
  const call = (await isAdmin(client)) ? taskList : taskListSelf;
  const query = { status, platform, task_id };
  const rows = await rowsUpTo(limit, (page) => client.call(call, { query: { ...query, ...page } }));
  const name = (row: AsyncTask) => `task/${row.task_id}`;
  await printList(output, { kind: "Task", columns: TASK_COLUMNS, name, rows, empty: "No tasks match." });
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

export async function listDrawings(client: Client, { task: mj_id, limit }: TaskListOptions, output: Output) {
  const call = (await isAdmin(client)) ? drawingList : drawingListSelf;
  const rows = await rowsUpTo(limit, (page) => client.call(call, { query: { mj_id, ...page } }));
  const name = (row: Drawing) => `drawing/${row.mj_id}`;
  await printList(output, { kind: "Drawing", columns: DRAWING_COLUMNS, name, rows, empty: "No drawings match." });
}

async function isAdmin(client: Client): Promise<boolean> {
  return (await client.call(selfGet, {})).data.role >= ROLE.admin;
}
