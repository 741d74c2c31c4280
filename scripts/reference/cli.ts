import { createProgram } from "../../packages/cli/src/program.ts";
import { EXIT_MEANINGS } from "../../packages/cli/src/core/exit.ts";
import { VARIABLES } from "../../packages/cli/src/core/variables.ts";
import { listExamples } from "../../packages/cli/src/core/arguments.ts";
import { VERSION } from "../../packages/cli/src/core/version.ts";
import { code, page, table } from "./markdown.ts";

type Program = ReturnType<typeof createProgram>;

/** Returns the page with every command of the CLI, from its own command tree. */
export function cli(): string {
  const program = createProgram(VERSION, {
    env: {},
    width: undefined,
    isTerminal: false,
    isPiped: true,
    nowSeconds: () => 0,
    useUtc: () => undefined,
    closeInput: () => undefined,
    write: () => undefined,
    out: () => undefined,
    room: () => undefined,
    note: () => undefined,
  });
  const commands = visible(program);
  return page(
    "The command `fairway`",
    "packages/cli",
    "`fairway COMMAND --help` says the same. [How to get it](../start/README.md#connect-a-provider).",
    `## Output\n\n${OUTPUT}`,
    `## Everywhere\n\n${table(["Flag", "What it does"], [...flagRows(program), ...variableRows()])}`,
    `## Exit codes\n\n${table(
      ["Code", "Meaning"],
      Object.entries(EXIT_MEANINGS).map(([number, meaning]) => [number, meaning]),
    )}`,
    ...commands.map((one) => section(one)),
  );
}

const OUTPUT = [
  "Data go to standard output, everything else to standard error.",
  "",
  "- `-o table`, for people: fits the width of a terminal (long texts are cut, then columns at the end are left out), whole in a pipe. Amounts are US dollars, types and users are names. `-o wide` has all columns, uncut, and the units of quota next to the dollars.",
  '- `-o json`, `-o yaml`: one document. A list is `{"kind": "ChannelList", "items": […]}`, with `"page": {"complete": false, "total": 250}` where `--limit` leaves rows out; one thing is the object itself, with the names and numbers of the [management API](api.md). What is done to several ids is a list of `{id, ok, message}`.',
  "- `-o jsonl`: each item on a line of its own; `log follow` prints such lines with `-o json` too.",
  "- `-o name`: `channel/3` and the like, one a line; of what is done to several ids only those that succeeded. Every argument that is an id takes such names as well as numbers, and `-` reads them from standard input: `fairway channel list --status auto-disabled -o name | fairway channel enable -`.",
  "- `-o csv`, `-o tsv`: a line of names, then a line for each item, with the columns of `wide`. Numbers are those of the API, times ISO 8601 in UTC (empty where there is none), and behind each amount of quota (`quota`) is the same in US dollars (`quota_usd`), exact by the gateway's `QuotaPerUnit`. A cell that holds the separator, a quote or a line end is quoted as RFC 4180 says; lines end with a line feed. Cells are written as they are, also those that begin with `=`, `+`, `-` or `@`: a spreadsheet takes them for formulas unless they are imported as text.",
  '- `-o jsonpath=\'{range .items[*]}{.id}{"\\t"}{.name}{"\\n"}{end}\'`: a template, as kubectl reads it, of the same document. `-o custom-columns=ID:.id,NAME:.name`: a table of your own paths. Paths are `.a.b`, `[0]`, `[-1]`, `[*]`, `..name` and `[?(@.status==1)]`.',
  "- `-o raw`: the value alone, of `option get KEY`, `token key`, `token create` and `redemption code`.",
  "- `--sort used` sorts all rows by a column before `--limit` cuts them, `--sort -used` the other way around. The log is sorted by `-time`, and by other columns with `--limit all`; `log follow` and `api` refuse it.",
  "- `--columns id,name` chooses columns of `table`, `wide`, `csv` and `tsv` by title or by name, `--no-headers` leaves their titles out. `--utc` prints and reads times without a zone in UTC.",
  '- A failure is `{"error": {"code", "message", "hint"}}` on standard error with `json`, `jsonl` and `yaml`.',
  "",
  "Where an argument is an id, a name does as well: `fairway channel get openai`. The beginning of a name is enough where only one name begins like that; what deletes takes whole names alone. A number is always an id.",
  "",
  "In a terminal a list has its first 100 rows; in a pipe or a file it has all of them, so that no program acts on a part. A list that `--limit` cuts says so on standard error; `--limit 100 --page 2` has the next rows. `--limit all` has no end, and rows are written as they arrive: `log list --limit all` streams all rows from one call, and continues where a lost connection broke it off. Its memory stays the same in every format; only `--sort`, and a `jsonpath` that needs the whole list such as `.items[-1]`, hold the rows.",
  "",
  "A gateway that is busy (429 or 503) is asked again, as often as `--retries` says, after the time that it names in Retry-After. `--dry-run` prints the request that would change something, without secrets, and sends nothing. Where the gateway can rehearse a call (`apply`, `import`), it does; `apply --dry-run=client` checks documents without a gateway.",
  "",
  "Keys, codes and passwords are read from standard input, a file or a hidden prompt, never from an argument. They are printed where they are made, unless `--output-file` or `--write-secret` takes them, and by `token key`, `token rotate` and `redemption code`, nowhere else. Deletions ask: one thing with `y`, several with their number. `--yes` agrees in scripts; without it and without a terminal nothing is deleted, and the exit code is 2.",
].join("\n");

function visible(command: Program): Program[] {
  return [...command.createHelp().visibleCommands(command)].filter((one) => one.name() !== "help");
}

function section(command: Program): string {
  const inner = visible(command);
  const names = [command.name(), ...command.aliases()].map(code).join(", ");
  const parts = inner.length === 0 ? [describe(command)] : inner.map(describe);
  return [`## ${names}`, `${capital(command.description())}.`, ...parts].filter((part) => part !== "").join("\n\n");
}

function describe(command: Program): string {
  const isTop = command.parent?.parent === null;
  const shown = listExamples(command);
  const rows = [...argumentRows(command), ...flagRows(command)];
  return [
    isTop ? "" : `### ${code(formatPath(command))}\n\n${capital(command.description())}.`,
    rows.length === 0 ? "" : table(["Argument or flag", "What it does"], rows),
    shown.length === 0 ? "" : `\`\`\`sh\n${shown.join("\n")}\n\`\`\``,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function formatPath(command: Program): string {
  const names = [command.name(), ...command.aliases()].join("|");
  return command.parent?.parent ? `${command.parent.name()} ${names}` : names;
}

function argumentRows(command: Program): string[][] {
  return command.registeredArguments.map((argument) => {
    const dots = argument.variadic ? "…" : "";
    const name = argument.required ? `<${argument.name()}${dots}>` : `[${argument.name()}${dots}]`;
    return [code(name), withChoices(argument.description, argument.argChoices, argument.defaultValue)];
  });
}

function flagRows(command: Program): string[][] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .map((option) => {
      const about = withChoices(option.description, option.argChoices, option.negate ? undefined : option.defaultValue);
      return [code(option.flags), option.mandatory ? `required${about === "" ? "" : `: ${about}`}` : about];
    });
}

function withChoices(about: string, choices: readonly string[] | undefined, fallback: unknown): string {
  const parts = [about, choices ? choices.map(code).join(", ") : ""].filter((part) => part !== "");
  const isNamed = typeof fallback === "string" || typeof fallback === "number";
  return parts.join(": ") + (isNamed ? `${parts.length > 0 ? "; " : ""}${code(String(fallback))} when absent` : "");
}

function variableRows(): string[][] {
  return Object.entries(VARIABLES).map(([name, about]) => [name.split(", ").map(code).join(", "), about]);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
