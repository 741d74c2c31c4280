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
import { printList, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";
import { rowsUpTo } from "./paging.ts";

export async function listModels(client: Client, { all }: { readonly all?: boolean }, output: Output): Promise<void> {
  const { data } = all ? await client.call(channelModelsEnabled, {}) : await client.call(selfModels, {});
  const rows = data.toSorted().map((model) => ({ model }));
  const columns = [{ title: "MODEL", value: (row: { model: string }) => row.model }];
  printList(output, { kind: "Model", columns, rows, empty: "No models. An enabled channel names some." });
}

export interface PriceOptions {
  readonly model?: string;
  readonly group?: string;
}

const PRICE_COLUMNS: readonly Column<PricingRow>[] = [
  { title: "MODEL", value: (row) => row.model_name },
  { title: "BY", value: (row) => (row.quota_type === 1 ? "call" : "token") },
  { title: "RATIO", value: (row) => (row.quota_type === 1 ? "-" : String(row.model_ratio)), isNumber: true },
  { title: "COMPLETION", value: (row) => (row.quota_type === 1 ? "-" : String(row.completion_ratio)), isNumber: true },
  { title: "PRICE", value: (row) => (row.quota_type === 1 ? `$${row.model_price}` : "-"), isNumber: true },
  { title: "GROUPS", value: (row) => row.enable_groups.join(",") },
];

export async function listPrices(client: Client, { model, group }: PriceOptions, output: Output): Promise<void> {
  const { data } = await client.call(pricingList, {});
  const rows = data.filter(
    (row) =>
      (model === undefined || row.model_name.includes(model)) &&
      (group === undefined || row.enable_groups.includes(group)),
  );
  printList(output, { kind: "Price", columns: PRICE_COLUMNS, rows, empty: "No prices match." });
}

export async function listGroups(client: Client, { all }: { readonly all?: boolean }, output: Output): Promise<void> {
  const rows = all
    ? (await client.call(groupList, {})).data.map((name) => ({ name, label: "" }))
    : Object.entries((await client.call(selfGroups, {})).data).map(([name, label]) => ({ name, label }));
  const columns = [
    { title: "NAME", value: (row: { name: string }) => row.name },
    { title: "LABEL", value: (row: { label: string }) => row.label },
  ];
  printList(output, { kind: "Group", columns, rows, empty: "No groups." });
}

export interface TaskListOptions {
  readonly status?: string;
  readonly platform?: string;
  readonly task?: string;
  readonly limit: number;
}

const TASK_COLUMNS: readonly Column<AsyncTask>[] = [
  { title: "TIME", value: (row) => formatTime(row.submit_time) },
  { title: "TASK", value: (row) => row.task_id },
  { title: "PLATFORM", value: (row) => row.platform },
  { title: "ACTION", value: (row) => row.action },
  { title: "STATUS", value: (row) => row.status },
  { title: "PROGRESS", value: (row) => row.progress },
  { title: "USER", value: (row) => String(row.user_id), isNumber: true },
  { title: "QUOTA", value: (row) => String(row.quota), isNumber: true },
  { title: "REASON", value: (row) => row.fail_reason },
];

export async function listTasks(client: Client, options: TaskListOptions, output: Output): Promise<void> {
  const { status, platform, task: task_id, limit } = options;
  const call = (await isAdmin(client)) ? taskList : taskListSelf;
  const query = { status, platform, task_id };
  const rows = await rowsUpTo(limit, (page) => client.call(call, { query: { ...query, ...page } }));
  printList(output, { kind: "Task", columns: TASK_COLUMNS, rows, empty: "No tasks match." });
}

const DRAWING_COLUMNS: readonly Column<Drawing>[] = [
  { title: "TIME", value: (row) => formatTime(Math.floor(row.submit_time / 1000)) },
  { title: "TASK", value: (row) => row.mj_id },
  { title: "ACTION", value: (row) => row.action },
  { title: "STATUS", value: (row) => row.status },
  { title: "PROGRESS", value: (row) => row.progress },
  { title: "USER", value: (row) => String(row.user_id), isNumber: true },
  { title: "PROMPT", value: (row) => row.prompt },
];

export async function listDrawings(client: Client, { task: mj_id, limit }: TaskListOptions, output: Output) {
  const call = (await isAdmin(client)) ? drawingList : drawingListSelf;
  const rows = await rowsUpTo(limit, (page) => client.call(call, { query: { mj_id, ...page } }));
  printList(output, { kind: "Drawing", columns: DRAWING_COLUMNS, rows, empty: "No drawings match." });
}

async function isAdmin(client: Client): Promise<boolean> {
  return (await client.call(selfGet, {})).data.role >= ROLE.admin;
}
