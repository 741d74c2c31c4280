import { budgetSubject, type Budget } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Reference } from "../../core/arguments.ts";
import { printDone, type Output } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import { describePeriod } from "../../print/period.ts";
import type { CommandContext, TeamChoice } from "../../session/command-context.ts";
import type { SessionClient } from "../../session/session.ts";
import { deleteEach, type Deletion } from "../each.ts";
import { parseQuota } from "../../core/amounts.ts";
import { findServiceAccount } from "../service-account/accounts.ts";
import { openTokens } from "../token/owner.ts";
import { BUDGETS } from "./budget.ts";
import { openBudgets, type BudgetFields, type BudgetOwner } from "./owner.ts";

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

/** What a budget of the installation limits: by an id or a name that is looked up, or by a name as it is. */
const NAMED = ["token", "user", "channel"] as const;
const PLAIN = ["group", "model", "member", "tag", "end_user"] as const;
/** Flags are written with hyphens. */
const toFlag = (scope: string) => `--${scope.replace("_", "-")}`;

type Subjects = { readonly [Scope in (typeof NAMED)[number]]?: Reference } & {
  readonly [Scope in Exclude<(typeof PLAIN)[number], "end_user">]?: string;
} & {
  /** Id or name in the chosen team. */
  readonly serviceAccount?: string;
  readonly endUser?: string;
  /** Any scope, with its subject as the API has it. */
  readonly scope?: Budget["scope"];
  readonly subject?: string;
};

export interface BudgetCreateOptions extends BudgetTerms, Subjects, TeamChoice {
  readonly limit: string;
  readonly period: Budget["period"];
  readonly filterModel?: string;
}

interface Resolver extends Pick<CommandContext, "resolveId" | "resolveTeam"> {
  readonly client: SessionClient;
}

export async function createBudget(resolver: Resolver, options: BudgetCreateOptions, output: Output): Promise<void> {
  const { client, resolveTeam } = resolver;
  const team = isOutsideTeams(options) ? undefined : await resolveTeam(options);
  const subject = team === undefined ? await readSubject(options, resolver) : await readInside(client, team, options);
  const quota_limit = parseQuota(options.limit, await output.quotaPerUnit(), "--limit");
  const { period, filterModel } = options;
  const filter = filterModel === undefined ? {} : { filter_model: filterModel };
  const body = { ...subject, period, quota_limit, ...filter, ...readTerms(options) };
  const data = await (await openBudgets(client, team)).create(body);
  await printDone(output, data, await describe("Created", data, output), BUDGETS);
}

/** True if the flags name what no team limits, so that a team of `fairway team switch` does not matter. */
function isOutsideTeams(options: BudgetCreateOptions): boolean {
  const { team, user, channel, group, model, member = "", tag, endUser, scope } = options;
  return (
    team === undefined && ([user, channel, group, model, tag, endUser, scope].some(Boolean) || member.includes(":"))
  );
}

type Subject = Pick<Budget, "scope" | "subject">;

interface Flag {
  readonly scope: Budget["scope"];
  readonly find: () => Promise<string>;
}

/** The team itself, unless a flag names something inside of it. */
async function readInside(
  client: SessionClient,
  team: number,
  { token, member, serviceAccount, tag, endUser, ...others }: BudgetCreateOptions,
): Promise<Subject> {
  const flags: Flag[] = [
    ...(token === undefined
      ? []
      : [{ scope: "token" as const, find: async () => String(await openTokens(client, team).resolve(token)) }]),
    ...(member === undefined ? [] : [{ scope: "member" as const, find: () => Promise.resolve(member) }]),
    ...(tag === undefined ? [] : [{ scope: "tag" as const, find: () => Promise.resolve(tag) }]),
    ...(endUser === undefined ? [] : [{ scope: "end_user" as const, find: () => Promise.resolve(endUser) }]),
    ...(serviceAccount === undefined
      ? []
      : [
          {
            scope: "service_account" as const,
            find: async () => String((await findServiceAccount(client, team, serviceAccount)).id),
          },
        ]),
  ];
  const isMixed = [others.user, others.channel, others.group, others.model, others.scope].some(Boolean);
  if (flags.length > 1 || isMixed)
    throw new CliError(
      "a budget limits one thing",
      EXIT.usage,
      "with --team name only one of --member, --token, --service-account, --tag, --end-user",
    );
  return (await chosen(flags)) ?? { scope: "team", subject: String(team) };
}

async function chosen([flag]: readonly Flag[]): Promise<Subject | undefined> {
  return flag && { scope: flag.scope, subject: await flag.find() };
}

/** Exactly one flag names what is limited. */
async function readSubject(options: Subjects, { resolveId }: Resolver): Promise<Subject> {
  const named = NAMED.flatMap((scope) => {
    const reference = options[scope];
    return reference === undefined ? [] : [{ scope, find: async () => String(await resolveId(reference)) }];
  });
  const plain = PLAIN.flatMap((scope) => {
    const name = scope === "end_user" ? options.endUser : options[scope];
    return name === undefined ? [] : [{ scope, find: () => Promise.resolve(name) }];
  });
  const { scope, subject, serviceAccount } = options;
  if (serviceAccount !== undefined)
    throw new CliError("a service account belongs to a team", EXIT.usage, "name the team with --team");
  if ((scope === undefined) !== (subject === undefined))
    throw new CliError("--scope and --subject need each other", EXIT.usage, "write --scope team --subject research");
  const written = scope === undefined || subject === undefined ? [] : [{ scope, find: () => Promise.resolve(subject) }];
  const all: readonly Flag[] = [...named, ...plain, ...written];
  const flags = [...NAMED, ...PLAIN, "team"].map(toFlag).join(", ");
  if (all.length > 1) throw new CliError("a budget limits one thing", EXIT.usage, `name only one of ${flags}`);
  const found = await chosen(all);
  if (!found) throw new CliError("the budget limits nothing", EXIT.usage, `name one of ${flags}`);
  return found;
}

export async function updateBudget(
  budgets: BudgetOwner,
  id: number,
  options: BudgetTerms,
  output: Output,
): Promise<void> {
  const { limit } = options;
  const terms = {
    ...(limit !== undefined && { quota_limit: parseQuota(limit, await output.quotaPerUnit(), "--limit") }),
    ...readTerms(options),
  };
  if (Object.keys(terms).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway budget update --help`");
  const data = await budgets.update(id, terms);
  await printDone(output, data, await describe("Changed", data, output), BUDGETS);
}

type Terms = Omit<BudgetFields, "quota_limit">;

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

export async function resetBudget(budgets: BudgetOwner, id: number, output: Output): Promise<void> {
  const data = await budgets.reset(id);
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
  const words = describePeriod({ period, length });
  return period === "total" || period === "hours"
    ? words
    : `${words}${anchor === "" ? "" : ` from ${anchor}`} in ${zone}`;
}

export async function deleteBudgets(
  budgets: BudgetOwner,
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
      const data = await budgets.read(id);
      return `${data.scope} ${budgetSubject(data)}, ${data.period}`;
    },
    remove: (id) => budgets.remove(id),
  };
  await deleteEach(deletion, yes, output);
}
