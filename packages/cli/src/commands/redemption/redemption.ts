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
import { money, moneyText } from "../../print/sheet.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { openSecretFile } from "../../terminal/secret-file.ts";
import { isForPeople, printBare, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import { deleteEach, doEach, type Deletion } from "../each.ts";
import { printPart, type Part } from "../paging.ts";
import { usernames } from "../usernames.ts";
import { parseQuota } from "../../core/amounts.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [REDEMPTION_STATUS.unused]: "unused",
  [REDEMPTION_STATUS.disabled]: "disabled",
  [REDEMPTION_STATUS.used]: "used",
};

/** A redemption code without its secret: every reader could redeem it. */
type Shown = Omit<Redemption, "key">;

/** How redemption codes are printed. */
export const REDEMPTIONS: Shape<Shown> = {
  kind: "Redemption",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    { title: "STATUS", value: ({ status: state }) => STATUS_WORD[state] ?? String(state) },
    quota("VALUE", "quota"),
    time("CREATED", "created_time"),
    time("REDEEMED", "redeemed_time"),
    {
      ...plain("BY", "used_user_id"),
      value: ({ used_user_id }) => (used_user_id === 0 ? "-" : `user ${used_user_id}`),
    },
  ],
  wide: [number("MADE BY", "user_id")],
  name: ({ id }) => `redemption/${id}`,
};

/** Returns the redemption code without its secret. */
export function shown({ key: _key, ...redemption }: Redemption): Shown {
  return redemption;
}

export interface RedemptionListOptions extends Part {
  readonly search?: string;
  readonly status?: string;
}

export async function listRedemptions(client: Client, options: RedemptionListOptions, output: Output): Promise<void> {
  const { search: keyword, status: word } = options;
  const number = Object.keys(STATUS_WORD).find((one) => STATUS_WORD[Number(one)] === word);
  const query = { keyword, status: number };
  const columnsFor = async (rows: readonly Redemption[]) => {
    const names = await usernames(
      client,
      rows.map(({ used_user_id: by }) => by),
    );
    const by = {
      title: "BY",
      value: ({ used_user_id: id }: Shown) => (id === 0 ? "-" : (names.get(id) ?? `user ${id}`)),
    };
    return REDEMPTIONS.columns.map((column) => (column.field === "used_user_id" && names.size > 0 ? by : column));
  };
  const empty = "No codes. Make one: fairway redemption create --name spring --quota 5usd";
  const list = { ...REDEMPTIONS, toShown: shown, columnsFor, empty };
  await printPart(output, options, list, (page) => client.call(redemptionList, { query: { ...query, ...page } }));
}

export async function getRedemption(client: Client, id: number, output: Output): Promise<void> {
  const found = shown((await client.call(redemptionGet, { params: { id } })).data);
  if (!isForPeople(output)) return printOne(output, found, { shape: REDEMPTIONS });
  const names = await usernames(client, [found.user_id, found.used_user_id]);
  const words = {
    id,
    name: found.name,
    status: STATUS_WORD[found.status] ?? found.status,
    value: moneyText(found.quota, await output.quotaPerUnit()),
    created: `${formatTime(found.created_time)}, by ${names.get(found.user_id) ?? `user ${found.user_id}`}`,
    redeemed:
      found.used_user_id === 0
        ? "-"
        : `${formatTime(found.redeemed_time)}, by ${names.get(found.used_user_id) ?? `user ${found.used_user_id}`}`,
  };
  await printOne(output, found, { words });
}

interface Code {
  readonly id: number;
  readonly name: string;
  readonly code: string;
}

export async function printCode(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(redemptionGet, { params: { id } });
  const columns = [number<Code>("ID", "id"), plain<Code>("NAME", "name"), plain<Code>("CODE", "code")];
  const shape = { kind: "RedemptionCode", columns, name: () => `redemption/${id}` };
  await printBare(output, data.key, { id, name: data.name, code: data.key }, shape);
}

export interface RedemptionCreateOptions {
  readonly name: string;
  readonly quota: string;
  readonly count: number;
  readonly outputFile?: string;
}

export async function createRedemptions(
  client: Client,
  { name, quota: amount, count, outputFile }: RedemptionCreateOptions,
  output: Output,
): Promise<void> {
  const { data: info } = await client.call(status, {});
  const each = parseQuota(amount, info.quota_per_unit);
  const file = outputFile === undefined ? undefined : openSecretFile(outputFile);
  const { data } = await client.call(redemptionCreate, { body: { name, quota: each, count } });
  file?.write(data);
  if (file) output.note(`Wrote ${data.length} codes to ${outputFile}.`);
  else if (isForPeople(output) || output.format === "raw" || output.format === "name")
    for (const code of data) output.out(code);
  else {
    const rows = data.map((code) => ({ code }));
    const columns = [plain<{ code: string }>("CODE", "code")];
    await printList(output, { kind: "RedemptionCode", columns, rows, empty: "" });
  }
  output.note(`Created ${data.length} codes of ${money(each, 2, info.quota_per_unit)} each.`);
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
  await doEach({ noun: "code", prefix: "redemption", done: `${verb}d`, kind: "RedemptionSwitch", ids, act }, output);
}

export async function deleteRedemptions(
  client: Client,
  ids: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "code",
    prefix: "redemption",
    kind: "RedemptionDelete",
    ids,
    question: (named) => `Delete code ${named}`,
    loadName: async (id) => (await client.call(redemptionGet, { params: { id } })).data.name,
    remove: (id) => client.call(redemptionDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}
