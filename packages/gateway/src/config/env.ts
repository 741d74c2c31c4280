import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Secret } from "../lib/secret.ts";
import { ALIASES } from "./aliases.ts";
import { addPassword } from "./url-password.ts";
import { NAMES_OF_OTHERS, PREFIX_OF_TESTS, VARIABLES, type Variable } from "./variables.ts";

/** Thrown for an invalid value of a variable; the message names the variable and the remedy. */
export class EnvError extends Error {
  override readonly name = "EnvError";
}

type Values = { readonly [K in keyof typeof VARIABLES]: (typeof VARIABLES)[K] extends Variable<infer T> ? T : never };

/** The environment, checked and frozen. */
export interface Env extends Omit<Values, "databaseUrl"> {
  readonly databaseUrl: Secret;
  /** True for one process with SQLite, which needs no external services. */
  readonly isEmbedded: boolean;
  /** Values of `FAIRWAY_SECRET_*` by the rest of their names; documents can refer to them. */
  readonly documentSecrets: Readonly<Record<string, Secret>>;
  /** Variables of compatible gateways that were used instead of missing ones. */
  readonly aliases: readonly { readonly alias: string; readonly name: string }[];
}

type Source = Readonly<Record<string, string | undefined>>;

/** All variables with names, defaults and examples, for the generated documentation. */
export const ENV_VARIABLES: readonly Variable<unknown>[] = Object.values(VARIABLES);

/** Returns the variables of this process; no other code reads them. */
export function processEnv(): NodeJS.ProcessEnv {
  return process.env;
}

/** Reads the environment. Throws an EnvError for unknown FAIRWAY_ names and for invalid values. */
export function loadEnv(source: Source): Env {
  refuseUnknown(source);
  const aliases: { alias: string; name: string }[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(VARIABLES) as [string, Variable<unknown>][]) {
    const found = find(source, variable);
    if (found.alias !== undefined) aliases.push({ alias: found.alias, name: variable.name });
    values[key] = parseOne(variable, found);
  }
  const known = values as unknown as Values;
  const databaseUrl =
    withPassword(known.databaseUrl, known.databasePassword, VARIABLES.databasePassword.name) ??
    new Secret(`sqlite:${join(known.dataDir, "fairway.db")}`);
  const redisUrl = withPassword(known.redisUrl, known.redisPassword, VARIABLES.redisPassword.name);
  return Object.freeze({
    ...known,
    redisUrl,
    adminHost: known.adminHost === "" ? known.host : known.adminHost,
    instanceId: known.instanceId === "" ? `${hostname()}-${process.pid}` : known.instanceId,
    databaseUrl,
    isEmbedded: databaseUrl.reveal().startsWith("sqlite:") && !redisUrl,
    documentSecrets: readDocumentSecrets(source),
    aliases: Object.freeze(aliases),
  });
}

function withPassword(url: Secret | undefined, password: Secret | undefined, name: string): Secret | undefined {
  if (password === undefined) return url;
  try {
    return new Secret(addPassword(url?.reveal() ?? "", password.reveal()));
  } catch (cause) {
    throw new EnvError(`${name} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

const DOCUMENT_SECRET = "FAIRWAY_SECRET_";

function readDocumentSecrets(source: Source): Readonly<Record<string, Secret>> {
  const readVariable = Object.entries(source).filter(([name, text]) => name.startsWith(DOCUMENT_SECRET) && text);
  return Object.fromEntries(
    readVariable.map(([name, text = ""]) => [name.slice(DOCUMENT_SECRET.length), new Secret(text)]),
  );
}

interface Found {
  readonly text: string;
  /** The name of the text's source, for the error. */
  readonly from: string;
  readonly alias?: string;
}

/**
 * Finds a value: our variable, our variable from a file, the first alias that is set, or the default. Blank counts as
 * absent.
 */
function find(source: Source, variable: Variable<unknown>): Found {
  return (
    findOwn(source, variable) ?? findAlias(source, variable.name) ?? { text: variable.fallback, from: variable.name }
  );
}

function findOwn(source: Source, { name, isSecret }: Variable<unknown>): Found | undefined {
  const own = readVariable(source, name);
  const file = isSecret ? readVariable(source, `${name}_FILE`) : "";
  if (own !== "" && file !== "") throw new EnvError(`${name} and ${name}_FILE are both set: keep one of them`);
  if (file !== "") return { text: readSecret(`${name}_FILE`, file), from: `${name}_FILE` };
  return own === "" ? undefined : { text: own, from: name };
}

function readVariable(source: Source, name: string): string {
  const text = source[name] ?? "";
  return text.trim() === "" ? "" : text;
}

function findAlias(source: Source, name: string): Found | undefined {
  for (const alias of ALIASES) {
    const own = readVariable(source, alias.name);
    if (alias.variable !== name || own === "") continue;
    const text = alias.translate ? alias.translate(own, source) : own;
    if (text !== undefined) return { text, from: alias.name, alias: alias.name };
  }
  return undefined;
}

function parseOne(variable: Variable<unknown>, { text, from }: Found): unknown {
  try {
    return variable.parse(text.trim());
  } catch (cause) {
    const cure = cause instanceof Error ? cause.message : String(cause);
    const shown = variable.isSecret ? "cannot be used" : `is ${JSON.stringify(text)}`;
    throw new EnvError(`${from} ${shown}: ${cure}, for example ${variable.example}`);
  }
}

function readSecret(name: string, path: string): string {
  const text = readText(name, path).replace(/\r?\n$/, "");
  if (text.trim() !== "") return text;
  throw new EnvError(`${name} names ${path}, which is empty: write the value into it, or remove the variable`);
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "it cannot be read";
    throw new EnvError(
      `${name} names ${path}, which cannot be read (${reason}): mount the file or set the variable to its path`,
    );
  }
}

const KNOWN = new Set(
  ENV_VARIABLES.flatMap((variable) => (variable.isSecret ? [variable.name, `${variable.name}_FILE`] : [variable.name])),
);
/** Matches the variables that Kubernetes adds for a service whose name begins with `fairway`. */
const SERVICE_LINK =
  /^FAIRWAY(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)$/;

/** Refuses unknown names, because a mistyped name would be a setting without effect. */
function refuseUnknown(source: Source): void {
  for (const name of Object.keys(source)) {
    if (
      !name.startsWith("FAIRWAY_") ||
      KNOWN.has(name) ||
      NAMES_OF_OTHERS.has(name) ||
      name.startsWith(PREFIX_OF_TESTS) ||
      name.startsWith(DOCUMENT_SECRET)
    )
      continue;
    if (SERVICE_LINK.test(name)) {
      throw new EnvError(
        `${name} comes from a Kubernetes service of that name: set enableServiceLinks: false in the pod`,
      );
    }
    const near = nearest(name);
    throw new EnvError(
      `${name} is not a variable of the gateway: ${near === undefined ? "remove it" : `did you mean ${near}?`}`,
    );
  }
}

function nearest(name: string): string | undefined {
  const near = [...KNOWN]
    .map((known) => ({ known, steps: editDistance(name, known) }))
    .sort((a, b) => a.steps - b.steps)[0];
  return near && near.steps <= 4 ? near.known : undefined;
}

/** Returns the number of single-character changes between two texts. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
