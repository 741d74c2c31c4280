import {
  formatTime,
  REDEMPTION_STATUS,
  redemptionCreate,
  redemptionDelete,
  redemptionGet,
  redemptionList,
  redemptionSetStatus,
  status,
  type Client,
  type Redemption,
} from "@fairway/wire";
import { printList, printOne, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";
import { deleteEach, doEach, type Deletion } from "./each.ts";
import { rowsUpTo } from "./paging.ts";
import { quotaOf } from "./token.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [REDEMPTION_STATUS.unused]: "unused",
  [REDEMPTION_STATUS.disabled]: "disabled",
  [REDEMPTION_STATUS.used]: "used",
};

/** A code without the code: whoever reads it can redeem it. */
type Shown = Omit<Redemption, "key">;

const COLUMNS: readonly Column<Shown>[] = [
  { title: "ID", value: ({ id }) => String(id), isNumber: true },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status: number }) => STATUS_WORD[number] ?? String(number) },
  { title: "QUOTA", value: ({ quota }) => String(quota), isNumber: true },
  { title: "CREATED", value: ({ created_time }) => formatTime(created_time) },
  { title: "REDEEMED", value: ({ redeemed_time }) => (redeemed_time === 0 ? "-" : formatTime(redeemed_time)) },
  { title: "BY", value: ({ used_user_id }) => (used_user_id === 0 ? "-" : `user ${used_user_id}`) },
];

function shown({ key: _key, ...redemption }: Redemption): Shown {
  return redemption;
}

export interface RedemptionListOptions {
  readonly search?: string;
  readonly status?: string;
  readonly limit: number;
}

export async function listRedemptions(client: Client, options: RedemptionListOptions, output: Output): Promise<void> {
  const { search: keyword, status: word, limit } = options;
  const number = Object.keys(STATUS_WORD).find((one) => STATUS_WORD[Number(one)] === word);
  const query = { keyword, status: number };
  const rows = await rowsUpTo(limit, (page) => client.call(redemptionList, { query: { ...query, ...page } }));
  printList(output, {
    kind: "Redemption",
    columns: COLUMNS,
    rows: rows.map(shown),
    empty: "No codes. Make some: fairway redemption create --name spring --quota 5usd --count 20",
  });
}

export async function printCode(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(redemptionGet, { params: { id } });
  if (output.format === "table") output.out(data.key);
  else printOne(output, { id, name: data.name, code: data.key });
}

export interface RedemptionCreateOptions {
  readonly name: string;
  readonly quota: string;
  readonly count: number;
}

export async function createRedemptions(
  client: Client,
  { name, quota, count }: RedemptionCreateOptions,
  output: Output,
): Promise<void> {
  const { data: info } = await client.call(status, {});
  const each = quotaOf(quota, info.quota_per_unit);
  const { data } = await client.call(redemptionCreate, { body: { name, quota: each, count } });
  if (output.format === "table") for (const code of data) output.out(code);
  else {
    const rows = data.map((code) => ({ code }));
    printList(output, { kind: "RedemptionCode", columns: [], rows, empty: "" });
  }
  output.note(`Created ${data.length} codes of ${each} each.`);
}

export async function switchRedemptions(
  client: Client,
  ids: readonly number[],
  verb: "enable" | "disable",
  output: Output,
): Promise<void> {
  const wanted = verb === "enable" ? REDEMPTION_STATUS.unused : REDEMPTION_STATUS.disabled;
  const act = async (id: number) =>
    void (await client.call(redemptionSetStatus, { query: { status_only: true }, body: { id, status: wanted } }));
  await doEach({ noun: "code", done: `${verb}d`, kind: "RedemptionSwitch", ids, act }, output);
}

export async function deleteRedemptions(
  client: Client,
  ids: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "code",
    kind: "RedemptionDelete",
    ids,
    question: (named) => `Delete code ${named}`,
    nameOf: async (id) => (await client.call(redemptionGet, { params: { id } })).data.name,
    remove: (id) => client.call(redemptionDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}
