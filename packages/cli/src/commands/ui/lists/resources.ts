import {
  budgetDelete,
  budgetSubject,
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
  type Client,
} from "@fairway/wire";
import type { SessionClient } from "../../../session/session.ts";
import { asDollars } from "../../../print/sheet.ts";
import { BUDGETS, readBudgets } from "../../budget/budget.ts";
import { priceColumns } from "../../catalogue/catalogue.ts";
import { CHANGE_COLUMNS, SETTINGS } from "../../option/option.ts";
import { undoOption } from "../../option/undo.ts";
import { rowsUpTo } from "../../paging.ts";
import { REDEMPTIONS, shown as redemptionOf } from "../../redemption/redemption.ts";
import { shown as tokenOf, TOKENS } from "../../token/token.ts";
import { USERS } from "../../user/user.ts";
import { channels } from "./channels.ts";
import { createsCodes, createsToken, createsUser, setsOption } from "./creations.ts";
import { logs } from "./logs.ts";
import { LIMIT, formatMembers, resource, type Resource, type Seen } from "./resource.ts";

/** How many changes of an option its detail shows. */
const CHANGES = 20;

/** Returns the resources that the signed-in user may see, channels first. */
export function listResources(client: SessionClient, seen: Seen): Resource[] {
  const own = [tokens(client, seen), logs(client, seen), prices(client, seen)];
  if (!seen.isAdmin) return [...own, budgets(client, seen)];
  return [
    channels(client, seen),
    ...own,
    options(client),
    users(client, seen),
    budgets(client, seen),
    codes(client, seen),
  ];
}

function tokens(client: Client, { quotaPerUnit }: Seen): Resource {
  const set = (id: number, status: 1 | 2) => () =>
    client.call(tokenSetStatus, { query: { status_only: true }, body: { id, status } });
  return resource({
    name: "tokens",
    page: "/token",
    aliases: ["token", "tok"],
    columns: asDollars(TOKENS.columns, quotaPerUnit),
    wide: TOKENS.wide,
    rows: async ({ search: keyword, pages }) => {
      const found = await rowsUpTo(LIMIT * pages, (page) => client.call(tokenList, { query: { keyword, ...page } }));
      return { ...found, rows: found.rows.map(tokenOf) };
    },
    getRowKey: ({ id }) => String(id),
    getRowLabel: ({ id, name }) => `token ${id} (${name})`,
    isOff: ({ status }) => status !== TOKEN_STATUS.enabled,
    actions: ({ id }) => ({
      enable: set(id, TOKEN_STATUS.enabled),
      disable: set(id, TOKEN_STATUS.disabled),
      delete: () => client.call(tokenDelete, { params: { id } }),
    }),
    creates: createsToken(client, quotaPerUnit),
  });
}

function options(client: Client): Resource {
  return resource({
    name: "options",
    page: "/setting",
    aliases: ["option", "opt"],
    columns: SETTINGS.columns,
    rows: async () => ({ rows: (await client.call(optionList, {})).data, isCut: false }),
    getRowKey: ({ key }) => key,
    getRowLabel: ({ key }) => `option ${key}`,
    detail: async (row) => {
      const { data } = await client.call(optionHistory, { query: { key: row.key, page_size: CHANGES } });
      const changes = data.map((change) => CHANGE_COLUMNS.map(({ value }) => value(change)).join("  "));
      return [
        ...formatMembers(row),
        "",
        ...(data.length === 0 ? ["never changed"] : ["changes, the latest first", ...changes]),
      ];
    },
    actions: ({ key }) => ({ edit: () => Promise.resolve(), undo: () => undoOption(client, key) }),
    creates: setsOption(client),
  });
}

function users(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "users",
    page: "/user",
    aliases: ["user"],
    columns: asDollars(USERS.columns, quotaPerUnit),
    wide: USERS.wide,
    rows: ({ search: keyword, pages }) =>
      rowsUpTo(LIMIT * pages, (page) => client.call(userList, { query: { keyword, ...page } })),
    getRowKey: ({ id }) => String(id),
    getRowLabel: ({ id, username }) => `user ${id} (${username})`,
    isOff: ({ status, DeletedAt }) => status !== USER_STATUS.enabled || DeletedAt !== null,
    actions: ({ id }) => ({
      enable: () => client.call(userManage, { body: { id, action: "enable" } }),
      disable: () => client.call(userManage, { body: { id, action: "disable" } }),
      delete: () => client.call(userDelete, { params: { id } }),
    }),
    creates: createsUser(client),
  });
}

/** Users see only their own budgets and cannot change them. */
function budgets(client: Client, { isAdmin, quotaPerUnit }: Seen): Resource {
  return resource({
    name: "budgets",
    page: "/budget",
    aliases: ["budget"],
    columns: asDollars(BUDGETS.columns, quotaPerUnit),
    wide: asDollars(BUDGETS.wide ?? [], quotaPerUnit),
    rows: async () => ({ rows: await readBudgets(client, isAdmin), isCut: false }),
    getRowKey: ({ id }) => String(id),
    getRowLabel: (budget) => `budget ${budget.id} (${budget.scope} ${budgetSubject(budget)})`,
    isOff: ({ used, quota_limit: limit }) => used >= limit,
    actions: ({ id }) => (isAdmin ? { delete: () => client.call(budgetDelete, { params: { id } }) } : {}),
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
    wide: REDEMPTIONS.wide,
    rows: async ({ search: keyword, pages }) => {
      const found = await rowsUpTo(LIMIT * pages, (page) =>
        client.call(redemptionList, { query: { keyword, ...page } }),
      );
      return { ...found, rows: found.rows.map(redemptionOf) };
    },
    getRowKey: ({ id }) => String(id),
    getRowLabel: ({ id, name }) => `code ${id} (${name})`,
    isOff: ({ status }) => status !== REDEMPTION_STATUS.unused,
    actions: ({ id }) => ({
      enable: set(id, REDEMPTION_STATUS.unused),
      disable: set(id, REDEMPTION_STATUS.disabled),
      delete: () => client.call(redemptionDelete, { params: { id } }),
    }),
    creates: createsCodes(client, quotaPerUnit),
  });
}

function prices(client: Client, { quotaPerUnit }: Seen): Resource {
  return resource({
    name: "prices",
    page: "/pricing",
    aliases: ["price", "pricing"],
    columns: priceColumns(quotaPerUnit),
    rows: async () => ({ rows: (await client.call(pricingList, {})).data, isCut: false }),
    getRowKey: ({ model_name: model }) => model,
    getRowLabel: ({ model_name: model }) => `price of ${model}`,
  });
}
