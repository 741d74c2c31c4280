import { litellmImport } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, printList, type Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import { readTextFile } from "../../terminal/prompt.ts";

export interface ImportOptions {
  readonly from: "litellm" | "new-api" | "one-api";
  readonly isDry: boolean;
}

interface Line {
  readonly line: string;
}

/** Prints what was made, then a line for all that was not carried over. Variables that the file names are those of the caller. */
export async function importConfig(
  client: SessionClient,
  path: string,
  { from, isDry, env }: ImportOptions & { readonly env: Readonly<Record<string, string | undefined>> },
  output: Output,
): Promise<void> {
  if (from !== "litellm")
    throw new CliError(
      `a database of ${from} is imported where the gateway runs`,
      EXIT.usage,
      `run \`fairway-gateway import --from ${from} --database URL --dry-run\` there`,
    );
  const config = readTextFile(path, "import");
  const variables = variablesOf(config, env);
  const { data } = await client.call(litellmImport, { body: { config, variables, dry_run: isDry } });
  if (isForPeople(output)) for (const line of data) output.out(line);
  else {
    const rows = data.map((line) => ({ line }));
    await printList(output, { kind: "ImportLine", columns: [plain<Line>("LINE", "line")], rows, empty: "" });
  }
  output.note(isDry ? "Nothing was changed: --dry-run." : "Done. A second import leaves what is here as it is.");
}

/** Only those that the file names; what is not set is named in the report. */
function variablesOf(config: string, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [...config.matchAll(/os\.environ\/([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name = ""]) => name);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
