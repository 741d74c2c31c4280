import { configPath, contextNames, checkedName, currentContext, pathOf, useContext } from "../../session/contexts.ts";
import { storedProfile } from "../../session/config.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { messageOf } from "../../core/problem.ts";
import { printList, type Output } from "../../print/output.ts";
import { plain } from "../../print/columns.ts";
import type { Column } from "../../print/table.ts";

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
  const rows = contextNames(env).map((name) => rowOf(env, name, pathOf(env, name) === inUse));
  const empty = "No contexts. Make one: fairway --context prod login https://ai.example.com";
  const name = (row: Row) => `context/${row.name}`;
  await printList(output, { kind: "Context", columns: COLUMNS, name, rows, empty });
}

/** Never the token. A file that cannot be read tells why. */
function rowOf(env: Environment, name: string, current: boolean): Row {
  try {
    const profile = storedProfile({ ...env, FAIRWAY_CONFIG: pathOf(env, name), FAIRWAY_CONTEXT: undefined });
    return { name, current, server: profile?.server ?? "", user_id: profile?.userId ?? 0 };
  } catch (error) {
    return { name, current, server: `(${messageOf(error)})`, user_id: 0 };
  }
}

export function chooseContext(env: Environment, name: string, output: Output): void {
  if (env["FAIRWAY_CONFIG"])
    throw new CliError("FAIRWAY_CONFIG names the file of one sign-in", EXIT.usage, "unset it to use contexts");
  if (!contextNames(env).includes(checkedName(name)))
    throw new CliError(
      `there is no context ${name}`,
      EXIT.notFound,
      `list them with \`fairway context list\`, or make it: \`fairway --context ${name} login URL\``,
    );
  useContext(env, name);
  output.note(`Commands go to ${name} now, ${rowOf(env, name, true).server}.`);
}

export function showContext(env: Environment, output: Output): void {
  output.out(env["FAIRWAY_CONTEXT"] || currentContext(env));
}
