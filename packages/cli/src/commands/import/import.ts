import { litellmImport } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, printList, type Output } from "../../print/output.ts";
import type { SessionClient } from "../../session/session.ts";
import { readTextFile } from "../../terminal/prompt.ts";

export interface ImportFlags {
  readonly from: "litellm" | "litellm-yaml" | "new-api" | "one-api";
  readonly priceFromUpstream?: boolean;
  readonly priceFrom?: string;
  readonly mapGroup?: readonly string[];
}

interface ImportOptions extends ImportFlags {
  readonly isDry: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Line {
  readonly line: string;
}

/** Prints what was made, then a line for all that was not carried over. Variables that the file names are those of the caller. */
export async function importConfig(
  client: SessionClient,
  path: string,
  { from, isDry, env, priceFromUpstream = false, priceFrom, mapGroup = [] }: ImportOptions,
  output: Output,
): Promise<void> {
  if (from !== "litellm" && from !== "litellm-yaml")
    throw new CliError(
      `a database of ${from} is imported where the gateway runs`,
      EXIT.usage,
      `run \`fairway-gateway import --from ${from} --database URL --dry-run\` there`,
    );
  const body = {
    groups: groupsIn(mapGroup),
    price_from_upstream: priceFromUpstream,
    ...(priceFrom === undefined ? {} : { price_from: addressIn(priceFrom) }),
    dry_run: isDry,
  };
  const config = readTextFile(path, "import");
  const { data } = await client.call(litellmImport, {
    body: { config, variables: variablesOf(config, env), ...body },
  });
  if (isForPeople(output)) for (const line of data) output.out(line);
  else {
    const rows = data.map((line) => ({ line }));
    await printList(output, { kind: "ImportLine", columns: [plain<Line>("LINE", "line")], rows, empty: "" });
  }
  output.note(isDry ? "Nothing was changed: --dry-run." : "Done. A second import leaves what is here as it is.");
}

function groupsIn(pairs: readonly string[]): Record<string, string> {
  const names: Record<string, string> = {};
  for (const pair of pairs) {
    const [, old, name] = /^([^=]+)=([^=]+)$/.exec(pair) ?? [];
    if (old === undefined || name === undefined)
      throw new CliError(`--map-group takes old=new, not ${pair}`, EXIT.usage, "such as --map-group default=staff");
    names[old] = name;
  }
  return names;
}

function addressIn(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new CliError(
    `--price-from takes the address of a gateway, not ${text}`,
    EXIT.usage,
    "such as --price-from https://litellm.example.com",
  );
}

/** Only those that the file names; what is not set is named in the report. */
function variablesOf(config: string, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [...config.matchAll(/os\.environ\/([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name = ""]) => name);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
