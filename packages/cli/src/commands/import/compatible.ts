import { ApiProblem, pricesImport, ROLE, selfGet, status, type SourceGateway } from "@fairway/wire";
import { parse } from "yaml";
import { readAddress, readToken, refusePlain } from "../../session/config.ts";
import { createSessionClient, type SessionClient } from "../../session/session.ts";
import type { Transport } from "../../session/transport.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { findHint, formatErrorMessage } from "../../core/problem.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import { carryTokens, carryUsers } from "./accounts.ts";
import type { Carry } from "./carry.ts";
import { carryChannels } from "./channels.ts";
import { carryOptions } from "./options.ts";
import { CarryReport } from "./report.ts";

/** Parts of a gateway, in the order of their import. */
const PARTS = ["options", "channels", "users", "keys"] as const;
type PartName = (typeof PARTS)[number];

export interface SourceFlags {
  readonly tokenStdin?: boolean;
  readonly userId?: number;
  readonly insecureHttp?: boolean;
  readonly channelKeys?: string;
  readonly only?: readonly string[];
}

export interface CompatibleImport extends SourceFlags {
  readonly kind: SourceGateway;
  readonly server: string;
  readonly target: SessionClient;
  readonly transport: Transport;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly groups: Readonly<Record<string, string>>;
  readonly isDry: boolean;
  readonly nowSeconds: number;
  readonly priceFromUpstream: boolean;
}

/**
 * Imports what a running gateway shows through its management calls; returns what was created and what was left out.
 */
export async function importCompatible(options: CompatibleImport): Promise<string[]> {
  const { kind, target, groups, isDry, nowSeconds } = options;
  const parts = resolveParts(options.only);
  const keys = options.channelKeys === undefined ? new Map<string, string>() : keysIn(options.channelKeys);
  const source = await openSource(options);
  const report = new CarryReport();
  const [{ data: there }, { data: here }] = [await source.call(status, {}), await target.call(status, {})];
  const factor = here.quota_per_unit / (there.quota_per_unit || here.quota_per_unit);
  if (factor !== 1)
    report.note(`amounts are converted: a dollar is ${there.quota_per_unit} units there, ${here.quota_per_unit} here`);
  const used = new Set<string>();
  const carry: Carry = {
    kind,
    source,
    target,
    isDry,
    report,
    options: new Map(),
    served: [],
    resolveGroup(group) {
      if (Object.hasOwn(groups, group)) used.add(group);
      return groups[group] ?? group;
    },
    convertQuota: (amount) => Math.max(0, Math.round((typeof amount === "number" ? amount : 0) * factor)),
  };
  const work: Readonly<Record<PartName, () => Promise<void>>> = {
    options: () => carryOptions(carry),
    channels: () => carryChannels(carry, keys),
    users: () => carryUsers(carry),
    keys: () => carryTokens(carry, nowSeconds),
  };
  for (const part of parts) await unlessRefused(source, part, report, work[part]);
  if (carry.served.length > 0) await carryPrices(carry, options.priceFromUpstream);
  for (const group of Object.keys(groups))
    if (!used.has(group)) report.note(`there is no group ${group} to be renamed`);
  if (parts.includes("channels"))
    report.note(
      "its calls show no keys of channels: give them with --channel-keys, or `fairway channel update NAME --key-stdin`",
    );
  if (parts.includes("keys"))
    report.note("its calls list the keys of the token's owner alone, not those of other users");
  report.note(
    `passwords, sign-ins, clients' keys, codes, orders, tasks and the log are in its database alone: \`fairway-gateway import --from ${kind} --database URL\` brings them`,
  );
  return report.lines();
}

/**
 * Gives models without a price the one that their channels publish, if requested; reports those that still have none.
 */
async function carryPrices({ target, report, served, options, isDry }: Carry, isAsked: boolean): Promise<void> {
  const { data: self } = await target.call(selfGet, {});
  if (self.role < ROLE.root)
    return report.note("models without a price were not looked for: that needs a super administrator here");
  const body = { channels: served, options: Object.fromEntries(options), price_from_upstream: isAsked, dry_run: isDry };
  report.add((await target.call(pricesImport, { body })).data);
}

function resolveParts(only: readonly string[] | undefined): readonly PartName[] {
  const unknown = only?.find((one) => !(PARTS as readonly string[]).includes(one));
  if (unknown !== undefined)
    throw new CliError(`--only: there is no part ${unknown}`, EXIT.usage, `choose among ${PARTS.join(", ")}`);
  return PARTS.filter((part) => only === undefined || only.includes(part));
}

async function openSource({ server, transport, env, ...flags }: CompatibleImport): Promise<SessionClient> {
  const address = readAddress(server, "the gateway to import");
  if (!flags.insecureHttp) refusePlain(address, "--insecure-http if you know the network");
  const variable = env["FAIRWAY_SOURCE_TOKEN"];
  const text = flags.tokenStdin || !variable ? await readStdin(`Access token of ${address}`) : variable;
  const token = readToken(text, flags.tokenStdin || !variable ? "standard input" : "FAIRWAY_SOURCE_TOKEN");
  const source = createSessionClient({ server: address, userId: flags.userId ?? 0, token }, transport);
  try {
    const { data: self } = await source.call(selfGet, {});
    // Some gateways require the owner's id with every call.
    return createSessionClient({ server: address, userId: flags.userId ?? self.id, token }, transport);
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 0) throw error;
    throw new CliError(
      `${address} does not take the access token: ${formatErrorMessage(error)}`,
      EXIT.notSignedIn,
      flags.userId === undefined ? "give the id of its owner with --user-id" : findHint(error),
    );
  }
}

/** Reports a part that the owner of the token may not read, and continues with the others. */
async function unlessRefused(
  source: SessionClient,
  part: PartName,
  report: CarryReport,
  work: () => Promise<void>,
): Promise<void> {
  const { data: self } = await source.call(selfGet, {});
  const needed = part === "options" ? ROLE.root : part === "keys" ? ROLE.user : ROLE.admin;
  if (self.role >= needed) return work();
  const who = needed === ROLE.root ? "a super administrator" : "an administrator";
  report.note(`${part} were not read: that needs the token of ${who} there, and ${self.username} is none`);
}

/** Returns keys by the name or number of their channel. */
function keysIn(path: string): ReadonlyMap<string, string> {
  const fail = () =>
    new CliError(`--channel-keys: ${path} is no table of keys`, EXIT.usage, "write a line NAME: KEY for each channel");
  let value: unknown;
  try {
    value = parse(readTextFile(path, "--channel-keys"));
  } catch (error) {
    // The parser's messages quote the file.
    throw error instanceof CliError ? error : fail();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fail();
  const entries = Object.entries(value);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === "string")) throw fail();
  return new Map(entries);
}
