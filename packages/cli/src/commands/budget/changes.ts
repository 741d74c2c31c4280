import {
  budgetCreate,
  budgetDelete,
  budgetGet,
  budgetReset,
  budgetSubject,
  budgetUpdate,
  type Budget,
  type CallInput,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Reference } from "../../core/arguments.ts";
import { printDone, type Output } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { deleteEach, type Deletion } from "../each.ts";
import { parseQuota } from "../../core/amounts.ts";
import { BUDGETS } from "./budget.ts";

/** What a budget can be changed to. */
export interface BudgetTerms {
  readonly limit?: string;
  readonly hard?: boolean;
  readonly soft?: boolean;
  readonly notice?: number;
  readonly threshold?: readonly number[];
  readonly forecast?: boolean;
  readonly timeZone?: string;
  readonly length?: number;
  readonly anchor?: string;
  /** Epoch seconds; 0 = never. */
  readonly endsAt?: number;
}

const NAMED = ["token", "user", "channel"] as const;
const PLAIN = ["group", "model", "team", "member"] as const;

type Subjects = { readonly [Scope in (typeof NAMED)[number]]?: Reference } & {
  readonly [Scope in (typeof PLAIN)[number]]?: string;
} & {
  /** Any scope, with its subject as the API has it. */
  readonly scope?: Budget["scope"];
  readonly subject?: string;
};

export interface BudgetCreateOptions extends BudgetTerms, Subjects {
  readonly limit: string;
  readonly period: Budget["period"];
  readonly filterModel?: string;
}

interface Resolver {
  readonly client: Client;
  readonly resolveId: CommandContext["resolveId"];
}

export async function createBudget(
  { client, resolveId }: Resolver,
  options: BudgetCreateOptions,
  output: Output,
): Promise<void> {
  const subject = await readSubject(options, resolveId);
  const quota_limit = parseQuota(options.limit, await output.quotaPerUnit(), "--limit");
  const { period, filterModel } = options;
  const filter = filterModel === undefined ? {} : { filter_model: filterModel };
  const body = { ...subject, period, quota_limit, ...filter, ...readTerms(options) };
  const { data } = await client.call(budgetCreate, { body });
  await printDone(output, data, await describe("Created", data, output), BUDGETS);
}

/** Exactly one flag names what is limited. */
async function readSubject(
  options: Subjects,
  resolveId: Resolver["resolveId"],
): Promise<Pick<Budget, "scope" | "subject">> {
  const named = NAMED.flatMap((scope) => {
    const reference = options[scope];
    return reference === undefined ? [] : [{ scope, find: async () => String(await resolveId(reference)) }];
  });
  const plain = PLAIN.flatMap((scope) => {
    const name = options[scope];
    return name === undefined ? [] : [{ scope, find: () => Promise.resolve(name) }];
  });
  const { scope, subject } = options;
  if ((scope === undefined) !== (subject === undefined))
    throw new CliError("--scope and --subject need each other", EXIT.usage, "write --scope team --subject research");
  const written = scope === undefined || subject === undefined ? [] : [{ scope, find: () => Promise.resolve(subject) }];
  const [chosen, ...others] = [...named, ...plain, ...written];
  const flags = [...NAMED, ...PLAIN].map((scope) => `--${scope}`).join(", ");
  if (!chosen) throw new CliError("the budget limits nothing", EXIT.usage, `name one of ${flags}`);
  if (others.length > 0) throw new CliError("a budget limits one thing", EXIT.usage, `name only one of ${flags}`);
  return { scope: chosen.scope, subject: await chosen.find() };
}

export async function updateBudget(client: Client, id: number, options: BudgetTerms, output: Output): Promise<void> {
  const { limit } = options;
  const terms = {
    ...(limit !== undefined && { quota_limit: parseQuota(limit, await output.quotaPerUnit(), "--limit") }),
    ...readTerms(options),
  };
  if (Object.keys(terms).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway budget update --help`");
  const { data } = await client.call(budgetUpdate, { body: { id, ...terms } });
  await printDone(output, data, await describe("Changed", data, output), BUDGETS);
}

type Terms = Omit<CallInput<typeof budgetUpdate>["body"], "id" | "quota_limit">;

function readTerms(options: BudgetTerms): Terms {
  const { hard, soft, notice, threshold, forecast, timeZone, length, anchor, endsAt } = options;
  return {
    ...((hard ?? soft) !== undefined && { is_hard: hard === true }),
    ...(notice !== undefined && { soft_percent: notice }),
    ...(threshold !== undefined && { thresholds: [...threshold] }),
    ...(forecast !== undefined && { forecast }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(length !== undefined && { length }),
    ...(anchor !== undefined && { anchor }),
    ...(endsAt !== undefined && { ends_at: endsAt }),
  };
}

export async function resetBudget(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(budgetReset, { params: { id } });
  await printDone(output, data, `Budget ${id} of ${data.scope} ${budgetSubject(data)} counts from 0 again.`, BUDGETS);
}

/** Returns a sentence such as `Created budget 3: token ci #7, $50.00 (25000000 quota) a month in UTC.` */
async function describe(verb: string, budget: Budget, output: Output): Promise<string> {
  const { id, scope, quota_limit: limit, is_hard: isHard, filter_model: model } = budget;
  const amount = moneyText(limit, await output.quotaPerUnit());
  const calls = model === "" ? "" : ` for ${model}`;
  const kind = isHard ? "" : ", notices only";
  return `${verb} budget ${id}: ${scope} ${budgetSubject(budget)}, ${amount}${calls} ${describeWindow(budget)}${kind}.`;
}

function describeWindow({ period, length, anchor, time_zone: zone }: Budget): string {
  if (period === "total") return "in total";
  if (period === "hours") return `in ${length} hours from the first request`;
  const article = period === "hour" ? "an" : "a";
  return `${article} ${period}${anchor === "" ? "" : ` from ${anchor}`} in ${zone}`;
}

export async function deleteBudgets(
  client: Client,
  ids: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "budget",
    kind: "BudgetDelete",
    ids,
    question: (named) => `Delete budget ${named}`,
    loadName: async (id) => {
      const { data } = await client.call(budgetGet, { params: { id } });
      return `${data.scope} ${budgetSubject(data)}, ${data.period}`;
    },
    remove: (id) => client.call(budgetDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}
