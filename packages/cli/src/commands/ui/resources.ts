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
import { number, plain, quota } from "../../print/columns.ts";
import type { Column } from "../../print/table.ts";
import { priceColumns } from "../catalogue/catalogue.ts";
import { testOne } from "../channel/checks.ts";
import { explainLines } from "../log/explain.ts";
import { logShape } from "../log/log.ts";
import { CHANGE_COLUMNS, SETTINGS } from "../option/option.ts";
import { undoOption } from "../option/undo.ts";
import { rowsUpTo } from "../paging.ts";
import { REDEMPTIONS, shown as redemptionOf } from "../redemption/redemption.ts";
import { shown as tokenOf, TOKENS } from "../token/token.ts";
import { USERS } from "../user/user.ts";
import { membersOf, resource, type Resource } from "./resource.ts";

/** Rows that are read at once; the key `m` reads as many again. */
const LIMIT = 1000;
const LOG_LIMIT = 100;
/** Changes of an option in its detail. */
const CHANGES = 20;

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
    page: "/channel",
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
    page: "/token",
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
    page: "/log",
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
    idOf: ({ id, request_id: request }) => (request === "" ? String(id) : request),
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
    page: "/setting",
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
    actions: ({ key }) => ({ edit: () => Promise.resolve(), undo: () => undoOption(client, key) }),
  });
}

function users(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "users",
    page: "/user",
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
    page: "/budget",
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
    page: "/redemption",
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
    page: "/pricing",
    aliases: ["price", "pricing"],
    columns: priceColumns(quotaPerUnit),
    rows: async () => ({ rows: (await client.call(pricingList, {})).data, isCut: false }),
    keyOf: ({ model_name: model }) => model,
    labelOf: ({ model_name: model }) => `price of ${model}`,
  });
}
