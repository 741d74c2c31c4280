import {
  checkedName,
  configPath,
  contextNames,
  currentContext,
  DEFAULT_CONTEXT,
  moveContext,
  resolveContextPath,
  useContext,
} from "../../session/contexts.ts";
import { removeProfile, storedProfile, writeProfile } from "../../session/config.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { formatErrorMessage } from "../../core/problem.ts";
import { printList, type Output } from "../../print/output.ts";
import { plain } from "../../print/columns.ts";
import type { Column } from "../../print/table.ts";

import type { LoginOptions, SignInPlace } from "./login.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Row {
  readonly name: string;
  readonly current: boolean;
  readonly server: string;
  readonly user_id: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "", field: "current", value: ({ current }) => (current ? "*" : "") },
  plain("NAME", "name"),
  plain("SERVER", "server"),
  { ...plain("USER ID", "user_id"), value: ({ user_id }) => (user_id === 0 ? "-" : String(user_id)), isNumber: true },
];

export async function listContexts(env: Environment, output: Output): Promise<void> {
  const inUse = configPath(env);
  const rows = contextNames(env).map((name) => buildContextRow(env, name, resolveContextPath(env, name) === inUse));
  const empty = "No contexts. Make one: fairway --context prod login https://ai.example.com";
  const name = (row: Row) => `context/${row.name}`;
  await printList(output, { kind: "Context", columns: COLUMNS, name, rows, empty });
}

/** Leaves out the token. If the file cannot be read, the row says why. */
function buildContextRow(env: Environment, name: string, current: boolean): Row {
  try {
    const profile = storedProfile({
      ...env,
      FAIRWAY_CONFIG: resolveContextPath(env, name),
      FAIRWAY_CONTEXT: undefined,
    });
    return { name, current, server: profile?.server ?? "", user_id: profile?.userId ?? 0 };
  } catch (error) {
    return { name, current, server: `(${formatErrorMessage(error)})`, user_id: 0 };
  }
}

/** Fails with exit code 5 if there is one of that name. */
export async function addContext(
  place: SignInPlace,
  { name, server, options }: { readonly name: string; readonly server: string; readonly options: LoginOptions },
  output: Output,
): Promise<void> {
  const { env } = place;
  refuseOneFile(env);
  if (contextNames(env).includes(checkedName(name)))
    throw new CliError(
      `there is a context ${name} already`,
      EXIT.conflict,
      `sign in again with \`fairway -c ${name} login\``,
    );
  const { runLogin } = await import("./login.ts");
  await runLogin(server, options, output, { ...place, env: { ...env, FAIRWAY_CONTEXT: name } });
}

export function chooseContext(env: Environment, name: string, output: Output): void {
  useContext(env, existing(env, name));
  output.note(`Commands go to ${name} now, ${buildContextRow(env, name, true).server}.`);
}

/** Properties of a context; both are off by default. */
const PROPERTIES = { protected: "protected", "read-only": "readOnly" } as const;

/** `protected=true`: deletions require the name of the context. `read-only=true`: no command may change anything. */
export function setContext(env: Environment, name: string, words: readonly string[], output: Output): void {
  const file = { ...env, FAIRWAY_CONFIG: resolveContextPath(env, existing(env, name)), FAIRWAY_CONTEXT: undefined };
  const profile = storedProfile(file);
  if (!profile) throw unknownContext(name);
  const changes = Object.fromEntries(words.map(propertyIn));
  writeProfile(file, { ...profile, ...changes });
  output.note(`${name}: ${words.join(", ")}.`);
}

function propertyIn(word: string): [string, boolean] {
  const [, property = "", value = ""] = /^([a-z-]+)=(.*)$/.exec(word) ?? [];
  const field = Object.entries(PROPERTIES).find(([known]) => known === property)?.[1];
  if (field === undefined || !["true", "false"].includes(value))
    throw new CliError(
      `${word} sets nothing`,
      EXIT.usage,
      `write ${Object.keys(PROPERTIES)
        .map((known) => `${known}=true`)
        .join(" or ")}`,
    );
  return [field, value === "true"];
}

export function renameContext(
  env: Environment,
  names: { readonly from: string; readonly to: string },
  output: Output,
): void {
  const from = existing(env, names.from);
  const to = checkedName(names.to);
  if (contextNames(env).includes(to)) throw new CliError(`there is a context ${to} already`, EXIT.conflict);
  const isInUse = currentContext(env) === from;
  moveContext(env, from, to);
  if (isInUse) useContext(env, to);
  output.note(`${from} is ${to} now.`);
}

/** Forgets a sign-in; its token stays valid. */
export async function removeContext(
  env: Environment,
  name: string,
  isAgreed: boolean | undefined,
  output: Output,
): Promise<void> {
  const from = existing(env, name);
  await output.confirm(`Forget the sign-in of ${from}`, 1, isAgreed);
  await removeProfile({ ...env, FAIRWAY_CONFIG: resolveContextPath(env, from), FAIRWAY_CONTEXT: undefined });
  if (currentContext(env) === from) useContext(env, DEFAULT_CONTEXT);
  output.note(`${from} is removed; its token stays valid until \`fairway logout --revoke\` or its end.`);
}

function refuseOneFile(env: Environment): void {
  if (env["FAIRWAY_CONFIG"])
    throw new CliError("FAIRWAY_CONFIG names the file of one sign-in", EXIT.usage, "unset it to use contexts");
}

function existing(env: Environment, name: string): string {
  refuseOneFile(env);
  if (contextNames(env).includes(checkedName(name))) return name;
  throw unknownContext(name);
}

function unknownContext(name: string): CliError {
  return new CliError(
    `there is no context ${name}`,
    EXIT.notFound,
    `list them with \`fairway context list\`, or make it: \`fairway --context ${name} login URL\``,
  );
}

export function showContext(env: Environment, output: Output): void {
  output.out(env["FAIRWAY_CONTEXT"] || currentContext(env));
}
