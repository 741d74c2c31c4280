import { status, type Client, type Token, type TokenBudget } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { toExitCode, findHint, formatErrorMessage } from "../../core/problem.ts";
import { number, plain } from "../../print/columns.ts";
import { isForPeople, printBare, printList, type Output } from "../../print/output.ts";
import { openSecretFile } from "../../terminal/secret-file.ts";
import { findServiceAccount } from "../service-account/accounts.ts";
import type { TokenOwner } from "./owner.ts";
import type { SecretPlace } from "./secret.ts";
import { parseQuota } from "../../core/amounts.ts";
import { readFields, type FieldOptions } from "./fields.ts";
import { parseExpiry, KEYS, type Key } from "./token.ts";

export interface TokenCreateOptions extends FieldOptions {
  readonly name: string;
  readonly quota: string;
  readonly limit?: string;
  readonly period?: TokenBudget["period"];
  readonly expires: string;
  readonly count: number;
  readonly outputFile?: string;
  readonly showKey?: boolean;
  readonly writeSecret?: SecretPlace;
  readonly replaceSecret?: boolean;
  readonly kubeContext?: string;
  /** Id or name; of the chosen team. */
  readonly serviceAccount?: string;
}

export async function createToken(
  owner: TokenOwner,
  options: TokenCreateOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const terms = await readTerms(owner.client, options, nowSeconds);
  refuseBudgetOfTeam(owner, terms);
  const holder = await findHolder(owner, options);
  const file = options.outputFile === undefined ? undefined : openSecretFile(options.outputFile);
  const secret = await openSecretPlace(options);
  const made: (Key & Token)[] = [];
  for (let at = 1; at <= options.count; at++) {
    const name = options.count === 1 ? options.name : `${options.name}-${at}`;
    made.push(await makeToken(owner, { ...options, name }, { ...terms, holder }));
    // Keys that were created before a failure are not lost.
    file?.write(made.map(({ key }) => key));
  }
  if (secret) return writeSecret(owner, secret, made, output);
  if (options.outputFile !== undefined) {
    const what = made.length === 1 ? "the key" : `${made.length} keys`;
    output.note(`Wrote ${what} to ${options.outputFile}.`);
  }
  await (options.outputFile === undefined || options.showKey ? printKeys : printNames)(output, made);
}

async function readTerms(client: Client, options: TokenCreateOptions, nowSeconds: number): Promise<Terms> {
  checkLimit(options);
  const isUnlimited = options.quota === "unlimited";
  const expires = parseExpiry(options.expires, nowSeconds);
  const isPriced = !isUnlimited || options.limit !== undefined;
  const unit = isPriced ? (await client.call(status, {})).data.quota_per_unit : 0;
  const amount = isUnlimited ? 0 : parseQuota(options.quota, unit);
  return { isUnlimited, amount, expires, budget: readBudget(options, unit) };
}

function checkLimit({ limit, period }: TokenCreateOptions): void {
  if ((limit === undefined) === (period === undefined)) return;
  const [given, missing] = limit === undefined ? ["--period", "--limit"] : ["--limit", "--period"];
  throw new CliError(`${given} needs ${missing}`, EXIT.usage, "write both: --limit 50usd --period month");
}

function readBudget({ limit, period }: TokenCreateOptions, unit: number): TokenBudget | undefined {
  if (limit === undefined || period === undefined) return undefined;
  return { period, quota_limit: parseQuota(limit, unit) };
}

/** Budgets of keys of a team are made by administrators and by admins of the team. */
function refuseBudgetOfTeam({ team }: TokenOwner, { budget }: Terms): void {
  if (team === undefined || budget === undefined) return;
  throw new CliError(
    "--limit does not go with --team",
    EXIT.usage,
    "make the key, then: fairway budget create --team --token",
  );
}

/** Returns the id of the service account that holds the key; undefined = the person. */
async function findHolder(
  { team, client }: TokenOwner,
  { serviceAccount }: TokenCreateOptions,
): Promise<number | undefined> {
  if (serviceAccount === undefined) return undefined;
  if (team === undefined)
    throw new CliError("a service account belongs to a team", EXIT.usage, "name the team with --team");
  return (await findServiceAccount(client, team, serviceAccount)).id;
}

/** Opens the place for the key; undefined if the key goes elsewhere. */
async function openSecretPlace({
  writeSecret: place,
  replaceSecret: isReplaced = false,
  kubeContext,
}: TokenCreateOptions) {
  if (place)
    return { place, ...(await (await import("./secret.ts")).openKeySecret(place, { kubeContext, isReplaced })) };
  if (isReplaced || kubeContext !== undefined)
    throw new CliError(
      `${isReplaced ? "--replace-secret" : "--kube-context"} names no Secret`,
      EXIT.usage,
      "add --write-secret NAMESPACE/NAME",
    );
  return undefined;
}

/** Deletes the key again if the Secret cannot take it, because a key without a Secret is useless. */
async function writeSecret(
  owner: TokenOwner,
  secret: NonNullable<Awaited<ReturnType<typeof openSecretPlace>>>,
  made: readonly Key[],
  output: Output,
): Promise<void> {
  const { namespace, name } = secret.place;
  for (const token of made) {
    try {
      await secret.write(token);
    } catch (thrown) {
      await owner.remove(token.id);
      const message = `the Secret ${namespace}/${name} was not written, and the new key is deleted again: `;
      throw new CliError(message + formatErrorMessage(thrown), toExitCode(thrown), findHint(thrown));
    }
    output.note(`Wrote key ${token.id}, ${token.name}, to the Secret ${namespace}/${name}.`);
    if (secret.before !== undefined)
      output.note(`Key ${secret.before}, which it had before, stays valid: fairway token delete ${secret.before}`);
  }
  await printNames(output, made);
}

interface Terms {
  readonly isUnlimited: boolean;
  readonly amount: number;
  readonly expires: number;
  readonly budget: TokenBudget | undefined;
}

async function makeToken(
  owner: TokenOwner,
  options: TokenCreateOptions,
  { isUnlimited, amount, expires, budget, holder }: Terms & { readonly holder: number | undefined },
) {
  const data = await owner.create({
    ...readFields(options),
    name: options.name,
    unlimited_quota: isUnlimited,
    remain_quota: amount,
    expired_time: expires,
    model_limits_enabled: options.models !== undefined,
    ...(budget && { budget }),
    ...(holder !== undefined && { service_account_id: holder }),
  });
  return { ...data, key: `sk-${data.key}` };
}

/** Prints names for scripts if the keys are in a file. */
async function printNames(output: Output, made: readonly Key[]): Promise<void> {
  if (isForPeople(output)) return;
  const rows = made.map(({ id, name }) => ({ id, name }));
  const columns = [number<Named>("ID", "id"), plain<Named>("NAME", "name")];
  await printList(output, { kind: "Token", columns, name: ({ id }) => `token/${id}`, rows, empty: "" });
}

async function printKeys(output: Output, made: readonly (Key & Token)[]): Promise<void> {
  const [first] = made;
  if (made.length === 1 && first) return printBare(output, first.key, first, KEYS);
  if (isForPeople(output) || output.format === "raw") for (const { key } of made) output.out(key);
  else await printList(output, { ...KEYS, rows: made, empty: "" });
}

type Named = Pick<Key, "id" | "name">;
