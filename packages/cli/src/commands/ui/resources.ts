import {
  budgetDelete,
  budgetList,
  budgetSubject,
  CHANNEL_STATUS,
  channelCopy,
  channelDelete,
  channelUpdate,
  channelList,
  logExplain,
  logExplainSelf,
  logList,
  logListSelf,
  LOG_TYPE,
  optionHistory,
  optionList,
  pricingList,
  REDEMPTION_STATUS,
  redemptionDelete,
  redemptionList,
  redemptionSetStatus,
  TOKEN_STATUS,
  tokenDelete,
  tokenList,
  tokenSetStatus,
  USER_STATUS,
  userDelete,
  userList,
  userManage,
  type Budget,
  type Channel,
  type Client,
  type LogRow,
} from "@fairway/wire";
import type { Shape } from "../../print/output.ts";
import { asDollars } from "../../print/sheet.ts";
import { cellOf, number, plain, quota } from "../../print/columns.ts";
import { printable } from "../../print/printable.ts";
import type { Column } from "../../print/table.ts";
import { priceColumns } from "../catalogue/catalogue.ts";
import { testOne } from "../channel/checks.ts";
import { explainLines } from "../log/explain.ts";
import { logShape } from "../log/log.ts";
import { CHANGE_COLUMNS, SETTINGS } from "../option/option.ts";
import { rowsUpTo, type Rows } from "../paging.ts";
import { REDEMPTIONS, shown as redemptionOf } from "../redemption/redemption.ts";
import { shown as tokenOf, TOKENS } from "../token/token.ts";
import { USERS } from "../user/user.ts";
import type { Action, Item, State, Titles } from "./state.ts";

/** A list that the screen can open, with everything it can do to a row. */
export interface Resource extends Titles {
  load(wanted: Wanted): Promise<{ readonly items: Item[]; readonly isCut: boolean }>;
  detail(item: Item, width: number): Promise<readonly string[]>;
  /** Answers what came of it. */
  act(item: Item, action: Action): Promise<string>;
}

/** The part of the state that decides what a list shows. */
type Wanted = Pick<State, "scope" | "search" | "pages">;

/** Rows that are read at once; the key `m` reads as many again. */
const LIMIT = 1000;
const LOG_LIMIT = 100;
/** Changes of an option in its detail. */
const CHANGES = 20;

interface Definition<Row extends object> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly columns: readonly Column<Row>[];
  rows(wanted: Wanted): Promise<Pick<Rows<Row>, "rows" | "isCut">>;
  keyOf(row: Row): string;
  labelOf(row: Row): string;
  isOff?(row: Row): boolean;
  detail?(row: Row, width: number): Promise<readonly string[]>;
  /** `edit` is the caller's: it leaves the screen. */
  actions?(row: Row): Partial<Record<Action, () => Promise<unknown>>>;
}

function resource<Row extends object>(definition: Definition<Row>): Resource {
  const { name, aliases, columns } = definition;
  const seen = new Map<string, Row>();
  const itemOf = (row: Row): Item => {
    const key = definition.keyOf(row);
    seen.set(key, row);
    return {
      key,
      label: printable(definition.labelOf(row)),
      cells: columns.map(({ value }) => value(row)),
      values: columns.map((column) => valueOf(column, row)),
      isOff: definition.isOff?.(row) ?? false,
      actions: Object.keys(definition.actions?.(row) ?? {}) as Action[],
    };
  };
  return {
    name,
    aliases,
    titles: columns.map(({ title }) => title),
    numeric: columns.map(({ isNumber }) => isNumber ?? false),
    fixed: columns.map(({ holds }) => holds === "time"),
    async load(wanted) {
      const { rows, isCut } = await definition.rows(wanted);
      seen.clear();
      return { items: rows.map(itemOf), isCut };
    },
    async detail({ key }, width) {
      const row = seen.get(key);
      if (!row) return [];
      return (await definition.detail?.(row, width)) ?? membersOf(row);
    },
    async act({ key, label }, action) {
      const row = seen.get(key);
      const said = row && (await definition.actions?.(row)[action]?.());
      return typeof said === "string" ? said : `${label}: ${action} done`;
    },
  };
}

function valueOf<Row>({ field, value }: Column<Row>, row: Row): string | number {
  const raw = field === undefined ? undefined : row[field];
  return typeof raw === "number" ? raw : value(row);
}

function membersOf(row: object): string[] {
  const members = Object.entries(row).filter(([, value]) => value !== "" && value !== null);
  const width = Math.max(0, ...members.map(([name]) => name.length));
  return members.flatMap(([name, value]) => {
    const [first = "", ...rest] = cellOf(value).split("\n");
    return [`${name.padEnd(width)}  ${first}`, ...rest.map((line) => `${" ".repeat(width)}  ${line}`)];
  });
}

/** Resources that the signed-in user may see, channels first. */
export function resourcesOf(client: Client, seen: Seen): Resource[] {
  const own = [tokens(client, seen), logs(client, seen), prices(client, seen)];
  if (!seen.isAdmin) return own;
  return [
    channels(client, seen),
    ...own,
    options(client),
    users(client, seen),
    budgets(client, seen),
    codes(client, seen),
  ];
}

/** The signed-in user, and the names of amounts and types. */
export interface Seen {
  readonly isAdmin: boolean;
  readonly quotaPerUnit: number;
  /** Empty for users, who see no channels. */
  readonly channels: Shape<Channel>;
}

function channelSwitch(client: Client, id: number, status: number) {
  return () => client.call(channelUpdate, { body: { id, status } });
}

function channels(client: Client, { channels: shape, quotaPerUnit }: Seen): Resource {
  return resource({
    name: "channels",
    aliases: ["channel", "ch"],
    columns: asDollars(shape.columns, quotaPerUnit),
    rows: ({ search: keyword, pages }) =>
      rowsUpTo(LIMIT * pages, (page) => client.call(channelList, { query: { keyword, ...page } })),
    keyOf: ({ id }) => String(id),
    labelOf: ({ id, name }) => `channel ${id} (${name})`,
    isOff: ({ status }) => status !== CHANNEL_STATUS.enabled,
    actions: ({ id }) => ({
      enable: channelSwitch(client, id, CHANNEL_STATUS.enabled),
      disable: channelSwitch(client, id, CHANNEL_STATUS.disabledByHand),
      test: async () => {
        const { ok, seconds, message } = await testOne(client, id, undefined);
        return ok ? `channel ${id} answered in ${seconds.toFixed(2)} s` : `channel ${id} failed its test: ${message}`;
      },
      copy: () => client.call(channelCopy, { params: { id } }),
      delete: () => client.call(channelDelete, { params: { id } }),
      edit: () => Promise.resolve(),
    }),
  });
}

function tokens(client: Client, { quotaPerUnit }: Seen): Resource {
  const set = (id: number, status: 1 | 2) => () =>
    client.call(tokenSetStatus, { query: { status_only: true }, body: { id, status } });
  return resource({
    name: "tokens",
    aliases: ["token", "tok"],
    columns: asDollars(TOKENS.columns, quotaPerUnit),
    rows: async ({ search: keyword, pages }) => {
      const found = await rowsUpTo(LIMIT * pages, (page) => client.call(tokenList, { query: { keyword, ...page } }));
      return { ...found, rows: found.rows.map(tokenOf) };
    },
    keyOf: ({ id }) => String(id),
    labelOf: ({ id, name }) => `token ${id} (${name})`,
    isOff: ({ status }) => status !== TOKEN_STATUS.enabled,
    actions: ({ id }) => ({
      enable: set(id, TOKEN_STATUS.enabled),
      disable: set(id, TOKEN_STATUS.disabled),
      delete: () => client.call(tokenDelete, { params: { id } }),
    }),
  });
}

function logs(client: Client, { isAdmin, quotaPerUnit }: Seen): Resource {
  const explain = async (row: LogRow, width: number) => {
    if (row.request_id === "") return undefined;
    const { data } = isAdmin
      ? await client.call(logExplain, { params: { id: row.id } })
      : await client.call(logExplainSelf, { params: { request: row.request_id } });
    return explainLines(data, width);
  };
  return resource<LogRow>({
    name: "logs",
    aliases: ["log"],
    columns: asDollars(logShape(isAdmin).columns, quotaPerUnit),
    rows: async ({ scope, pages }) => {
      const rows: LogRow[] = [];
      let before: string | undefined;
      for (let page = 0; page < pages && before !== ""; page++) {
        const query = {
          before,
          page_size: LOG_LIMIT,
          ...(scope && { channel: Number(scope.channel), ...(scope.isFailing && { type: LOG_TYPE.error }) }),
        };
        const { data } = await client.call(isAdmin ? logList : logListSelf, { query });
        rows.push(...data.items);
        before = data.next;
      }
      return { rows, isCut: before !== "" };
    },
    keyOf: ({ id, request_id: request }) => `${id} ${request}`,
    labelOf: ({ channel, channel_name: name, request_id: request }) =>
      isAdmin && channel > 0 ? `channel ${channel} (${name ?? ""})` : `call ${request}`,
    isOff: ({ type }) => type === LOG_TYPE.error,
    detail: async (row, width) => (await explain(row, width)) ?? membersOf(row),
    actions: ({ channel }) =>
      isAdmin && channel > 0
        ? {
            enable: channelSwitch(client, channel, CHANNEL_STATUS.enabled),
            disable: channelSwitch(client, channel, CHANNEL_STATUS.disabledByHand),
          }
        : {},
  });
}

function options(client: Client): Resource {
  return resource({
    name: "options",
    aliases: ["option", "opt"],
    columns: SETTINGS.columns,
    rows: async () => ({ rows: (await client.call(optionList, {})).data, isCut: false }),
    keyOf: ({ key }) => key,
    labelOf: ({ key }) => `option ${key}`,
    detail: async (row) => {
      const { data } = await client.call(optionHistory, { query: { key: row.key, page_size: CHANGES } });
      const changes = data.map((change) => CHANGE_COLUMNS.map(({ value }) => value(change)).join("  "));
      return [
        ...membersOf(row),
        "",
        ...(data.length === 0 ? ["never changed"] : ["changes, the latest first", ...changes]),
      ];
    },
    actions: () => ({ edit: () => Promise.resolve() }),
  });
}

function users(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "users",
    aliases: ["user"],
    columns: asDollars(USERS.columns, quotaPerUnit),
    rows: ({ search: keyword, pages }) =>
      rowsUpTo(LIMIT * pages, (page) => client.call(userList, { query: { keyword, ...page } })),
    keyOf: ({ id }) => String(id),
    labelOf: ({ id, username }) => `user ${id} (${username})`,
    isOff: ({ status, DeletedAt }) => status !== USER_STATUS.enabled || DeletedAt !== null,
    actions: ({ id }) => ({
      enable: () => client.call(userManage, { body: { id, action: "enable" } }),
      disable: () => client.call(userManage, { body: { id, action: "disable" } }),
      delete: () => client.call(userDelete, { params: { id } }),
    }),
  });
}

const BUDGET_COLUMNS: readonly Column<Budget>[] = [
  number("ID", "id"),
  plain("SCOPE", "scope"),
  { title: "SUBJECT", value: budgetSubject },
  plain("PERIOD", "period"),
  quota("LIMIT", "quota_limit"),
  quota("USED", "used"),
  { title: "HARD", value: ({ is_hard: isHard }) => (isHard ? "yes" : "no") },
];

function budgets(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "budgets",
    aliases: ["budget"],
    columns: asDollars(BUDGET_COLUMNS, quotaPerUnit),
    rows: async () => ({ rows: (await client.call(budgetList, {})).data, isCut: false }),
    keyOf: ({ id }) => String(id),
    labelOf: (budget) => `budget ${budget.id} (${budget.scope} ${budgetSubject(budget)})`,
    isOff: ({ used, quota_limit: limit }) => used >= limit,
    actions: ({ id }) => ({ delete: () => client.call(budgetDelete, { params: { id } }) }),
  });
}

function codes(client: Client, { quotaPerUnit }: Seen): Resource {
  const set = (id: number, status: 1 | 2) => () =>
    client.call(redemptionSetStatus, { query: { status_only: true }, body: { id, status } });
  return resource({
    name: "codes",
    aliases: ["code", "redemption", "redemptions"],
    columns: asDollars(REDEMPTIONS.columns, quotaPerUnit),
    rows: async ({ search: keyword, pages }) => {
      const found = await rowsUpTo(LIMIT * pages, (page) =>
        client.call(redemptionList, { query: { keyword, ...page } }),
      );
      return { ...found, rows: found.rows.map(redemptionOf) };
    },
    keyOf: ({ id }) => String(id),
    labelOf: ({ id, name }) => `code ${id} (${name})`,
    isOff: ({ status }) => status !== REDEMPTION_STATUS.unused,
    actions: ({ id }) => ({
      enable: set(id, REDEMPTION_STATUS.unused),
      disable: set(id, REDEMPTION_STATUS.disabled),
      delete: () => client.call(redemptionDelete, { params: { id } }),
    }),
  });
}

function prices(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "prices",
    aliases: ["price", "pricing"],
    columns: priceColumns(quotaPerUnit),
    rows: async () => ({ rows: (await client.call(pricingList, {})).data, isCut: false }),
    keyOf: ({ model_name: model }) => model,
    labelOf: ({ model_name: model }) => `price of ${model}`,
  });
}
