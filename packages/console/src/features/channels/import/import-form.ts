import type { CallInput, importConfigStart, importServerStart, ImportServer } from "@fairway/wire";

/** What can be imported: a configuration, a database, or a running gateway of each family. */
export type ImportSource = "config" | "database" | ImportServer;

export interface ImportForm {
  readonly source: ImportSource;
  readonly config: string;
  /** Name of the file that the configuration comes from. */
  readonly name: string;
  /** A line `NAME=value` for each. */
  readonly variables: string;
  readonly isPricedByUpstream: boolean;
  /** Address of the gateway that is left; "" = none. */
  readonly former: string;
  /** The database. */
  readonly file: File | undefined;
  /** What the numbers of channel types in the database mean. */
  readonly family: "new-api" | "one-api";
  readonly withLogs: boolean;
  /** Address of the running gateway. */
  readonly address: string;
  readonly token: string;
  /** "" = the gateway says it. */
  readonly userId: string;
}

export const EMPTY_IMPORT: ImportForm = {
  source: "config",
  config: "",
  name: "",
  variables: "",
  isPricedByUpstream: false,
  former: "",
  file: undefined,
  family: "new-api",
  withLogs: false,
  address: "",
  token: "",
  userId: "",
};

type ConfigBody = NonNullable<CallInput<typeof importConfigStart>["body"]>;
type ServerBody = NonNullable<CallInput<typeof importServerStart>["body"]>;

/** Reads lines of `NAME=value`; undefined if one of them is none. */
export function parseVariables(text: string): Record<string, string> | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const pairs = lines.map((line) => /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(line));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", (pair?.[2] ?? "").trim()]));
}

/** Returns the call of a configuration, or the member that is wrong. */
export function buildImport(form: ImportForm, isDry: boolean): ConfigBody | "config" | "variables" {
  if (form.config.trim() === "") return "config";
  const variables = parseVariables(form.variables);
  if (!variables) return "variables";
  const former = form.former.trim().replace(/\/+$/, "");
  return {
    config: form.config,
    dry_run: isDry,
    ...(form.name !== "" && { name: form.name }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(form.isPricedByUpstream && { price_from_upstream: true }),
    ...(former !== "" && { price_from: former }),
  };
}

/** Returns the call of a running gateway, or the member that is wrong. */
export function buildServerImport(
  from: ImportServer,
  form: ImportForm,
  isDry: boolean,
): ServerBody | "address" | "token" | "userId" {
  const address = form.address.trim().replace(/\/+$/, "");
  if (!/^https?:\/\/[^\s/?#@]+$/.test(address)) return "address";
  const token = form.token.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) return "token";
  const user = form.userId.trim();
  if (user !== "" && !/^[1-9]\d{0,8}$/.test(user)) return "userId";
  return { from, address, token, dry_run: isDry, ...(user !== "" && { user_id: Number(user) }) };
}
