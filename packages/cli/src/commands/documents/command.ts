import { Argument, Option, type Command } from "commander";
import type { DeleteOptions, DiffOptions } from "./documents.ts";
import type { ExportOptions } from "./export.ts";
import type { DocumentOptions } from "./plan.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, yes } from "../../core/arguments.ts";

const load = () => import("./documents.ts");

export function documentCommands(program: Command, { client, output, globals, env }: CommandContext): void {
  const around = () => ({ output: output(), env: env(), isVerbose: globals().verbose === true });
  const diff = withDocuments(program.command("diff"))
    .description("what applying documents would change; exit 1 where something differs (super administrator)")
    .addOption(new Option("--format <format>", "a patch of each document, or as -o json").choices(["unified", "json"]))
    .option("--exit-code", "1 where something differs, as without this flag")
    .option("--no-exit-code", "0 also where something differs")
    .action(async (options: DiffOptions) => (await load()).diffDocuments(await client(), options, around()));
  examples(
    diff,
    "fairway diff -f channels.yaml",
    "fairway diff -f channels.yaml --format unified",
    "fairway diff -f deploy/fairway -R --prune -o json",
  );
  const apply = withDocuments(program.command("apply"))
    .description(
      "create and change channels, options and keys to match documents, all or nothing (super administrator)",
    )
    .option("--wait", "wait until each replica uses the documents, for at most --timeout")
    .addOption(yes())
    .action(async ({ wait, ...options }: DocumentOptions & { readonly yes?: boolean; readonly wait?: boolean }) => {
      const { dryRun = false, dryRunAt, timeout } = globals();
      if (dryRunAt === "client") return (await load()).checkDocuments(options, around());
      const how = { ...options, dryRun, waitMs: wait ? timeout * 1000 : undefined };
      return (await load()).applyDocuments(await client(), how, around());
    });
  examples(
    apply,
    "fairway apply -f channels.yaml",
    "fairway apply -f channels.yaml --dry-run=client",
    "fairway apply -f channels.yaml --wait --timeout 2m",
    "fairway apply -f deploy/fairway -R --manager git:production --prune --yes",
  );
  const remove = withFiles(program.command("delete"))
    .description("delete what the documents name, if their manager owns it (super administrator)")
    .addOption(yes())
    .action(async (options: DeleteOptions) => (await load()).deleteDocuments(await client(), options, around()));
  examples(remove, "fairway delete -f channels.yaml", "fairway delete -f deploy/fairway -R --yes");
  schemaCommands(program, output);
  exportCommand(program, { client, output });
}

function schemaCommands(program: Command, output: CommandContext["output"]): void {
  const explain = program
    .command("explain")
    .argument("[kind]", "a kind such as Channel, with a field behind a dot; all kinds when absent")
    .description("fields of the documents that `fairway apply` takes")
    .action(async (kind: string | undefined) => (await import("./explain.ts")).explainDocument(kind, output()));
  examples(explain, "fairway explain Channel", "fairway explain Channel.credentialsFrom");
  const schema = program
    .command("schema")
    .argument("[name]", "such as Channel, or ChannelList for a list of them; all names when absent")
    .description("JSON Schema of what commands print with -o json, and of documents")
    .action(async (name: string | undefined) => (await import("../schema/schema.ts")).showSchema(name, output()));
  examples(schema, "fairway schema", "fairway schema ChannelList > channel-list.schema.json");
}

function exportCommand(program: Command, { client, output }: Pick<CommandContext, "client" | "output">): void {
  const exporting = program
    .command("export")
    .addArgument(
      new Argument("[what]").choices(["channels", "tokens", "options", "budgets", "users", "all"]).default("all"),
    )
    .description("print the configuration as documents, with variables in place of secrets (super administrator)")
    .addOption(
      new Option(
        "--format <format>",
        "documents in YAML or JSON, or rows for the calls of compatible gateways",
      ).choices(["fairway", "yaml", "json", "jsonl", "family-json"]),
    )
    .option("--include-ids", "include the ID of each row, in documents as the annotation fairway.dev/id")
    .option("--crd", "print the CustomResourceDefinitions for these documents instead; needs no sign-in")
    .option("--split-dir <folder>", "write each document to its own file in this folder, which is created if needed")
    .action(async (what: string, { crd, ...options }: ExportOptions & { readonly crd?: boolean }) =>
      crd
        ? (await import("./export.ts")).exportKinds(output())
        : (await import("./export.ts")).exportAs(await client(), { what, ...options }, output()),
    );
  examples(
    exporting,
    "fairway export > fairway.yaml",
    "fairway export channels --format jsonl --include-ids",
    "fairway export channels --format family-json > channels.json",
    "fairway export --split-dir deploy/fairway",
    "fairway export --crd | kubectl apply -f -",
  );
}

function withFiles(command: Command): Command {
  return command
    .requiredOption("-f, --file <path...>", "files of YAML or JSON, folders of them, or - for standard input")
    .option("-R, --recursive", "search folders recursively")
    .option("--manager <name>", "owner of what the documents name", "cli");
}

function withDocuments(command: Command): Command {
  return withFiles(command)
    .option("--prune", "delete what the manager owns and the documents no longer name")
    .option("--force", "take over what other managers own, and allow deleting more than half of what this one owns")
    .option("--force-conflicts", "as --force");
}
