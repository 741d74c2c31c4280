import {
  declarativeApply,
  declarativeManaged,
  type Client,
  type DeclarativeChange,
  type DeclarativeDocument,
} from "@fairway/wire";
import { randomUUID } from "node:crypto";
import {
  formatChange,
  MistakenDocuments,
  formatDocumentName,
  readFiles,
  readPlan,
  summarizeChanges,
  type DocumentOptions,
  type DocumentSource,
  type Environment,
} from "./plan.ts";
import { CliError, EXIT, Said } from "../../core/exit.ts";
import { toExitCode, findHint, formatErrorMessage } from "../../core/problem.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, openRows, printList, type Output, type Shape } from "../../print/output.ts";

export interface DeleteOptions extends DocumentSource {
  readonly manager: string;
  readonly yes?: boolean;
}

export interface ApplyOptions extends DocumentOptions {
  readonly dryRun?: boolean;
  /** How many milliseconds each replica has to use the documents; undefined = no wait. */
  readonly waitMs?: number | undefined;
  readonly yes?: boolean;
}

/** Requests a plan and prints every mistake. */
async function requestPlan(client: Client, options: DocumentOptions, { output, env }: Surroundings) {
  try {
    return await readPlan(client, options, env);
  } catch (error) {
    if (error instanceof MistakenDocuments) for (const line of error.lines) output.note(line);
    throw error;
  }
}

interface Surroundings {
  readonly output: Output;
  readonly env: Environment;
  readonly isVerbose: boolean;
}

export interface DiffOptions extends DocumentOptions {
  readonly format?: "unified" | "json";
  /** If false, the exit code is 0 even if something differs. */
  readonly exitCode?: boolean;
}

/** Exits like `diff` and `kubectl diff`: 1 if something differs, more if the comparison failed. */
export async function diffDocuments(client: Client, options: DiffOptions, around: Surroundings): Promise<void> {
  const { format, exitCode = true, ...wanted } = options;
  const { body, plan } = await requestPlan(client, wanted, around).catch((error: unknown) => {
    // 1 means that something differs.
    throw toExitCode(error) === EXIT.failure
      ? new CliError(formatErrorMessage(error), EXIT.usage, findHint(error))
      : error;
  });
  const output = format === "json" ? { ...around.output, format } : around.output;
  if (format === "unified") {
    if (!isForPeople(output))
      throw new CliError(`--format unified is a text, not -o ${output.format}`, EXIT.usage, "leave out one of the two");
    await (await import("./unified.ts")).printUnified(client, { documents: body.documents, plan }, output);
  } else await printChanges(plan, { ...around, output });
  if (exitCode && plan.some(({ action }) => action !== "unchanged")) throw new Said(EXIT.failure);
}

interface Checked {
  readonly kind: string;
  readonly name: string;
  readonly source: string;
}

const CHECKED: Shape<Checked> = {
  kind: "Document",
  columns: [plain("KIND", "kind"), plain("NAME", "name"), plain("SOURCE", "source")],
  name: ({ kind, name }) => `${kind}/${name}`,
};

/** Prints every mistake that can be found without a gateway; only the gateway knows its types and what would change. */
export async function checkDocuments(options: DocumentSource, { output, env, isVerbose }: Surroundings): Promise<void> {
  const { placed } = await readFiles(options, env);
  const lines = (await import("./mistakes.ts")).localMistakes(placed);
  for (const line of lines) output.note(line);
  if (lines.length > 0) throw new MistakenDocuments(lines);
  const rows = placed.map(({ value, source, findLine }) => {
    const { kind, metadata } = value as DeclarativeDocument;
    return { kind, name: metadata.name, source: `${source}:${findLine(["kind"])}` };
  });
  if (!isForPeople(output) || isVerbose) await printList(output, { ...CHECKED, rows, empty: "" });
  const count = rows.length === 1 ? "The document is" : `${rows.length} documents are`;
  output.note(`${count} valid; the gateway was not asked.`);
}

/** Applies documents. Deletions require a confirmation; conflicts are skipped and end with exit code 5. */
export async function applyDocuments(client: Client, options: ApplyOptions, around: Surroundings): Promise<void> {
  const { output } = around;
  const { body, plan } = await requestPlan(client, options, around);
  const deletions = plan.filter(({ action }) => action === "delete");
  if (options.dryRun) {
    await printChanges(plan, around);
    output.note("Nothing was changed: --dry-run.");
    return;
  }
  if (deletions.length > 0) {
    const names = deletions.map(({ kind, name }) => `${kind}/${name}`).join(", ");
    await output.confirm(`Delete ${names}`, deletions.length, options.yes);
  }
  const { data: changes } = await client.call(declarativeApply, { body });
  await printChanges(changes, around);
  if (options.waitMs !== undefined)
    await (await import("./applied.ts")).waitUntilApplied(client, options.waitMs, output);
  const conflicts = changes.filter(({ action }) => action === "conflict").length;
  if (conflicts > 0)
    throw new CliError(`${conflicts} conflicts were left alone`, EXIT.conflict, "--force takes them over");
}

/** Deletes the rows that the documents name and their manager owns, according to their deletionPolicy. */
export async function deleteDocuments(client: Client, options: DeleteOptions, around: Surroundings): Promise<void> {
  const { output, env } = around;
  const { documents } = await readFiles(options, env);
  const { data: managed } = await client.call(declarativeManaged, {});
  const places = new Set(
    managed.filter(({ owner }) => owner === options.manager).map(({ kind, name }) => `${kind}/${name}`),
  );
  const found = (documents as DeclarativeDocument[]).filter((one) => places.has(formatDocumentName(one)));
  const others = (documents as DeclarativeDocument[]).filter((one) => !places.has(formatDocumentName(one)));
  for (const one of others) output.note(`= ${formatDocumentName(one)} is not managed by ${options.manager}`);
  if (found.length === 0) return;
  const names = found.map(formatDocumentName).join(", ");
  await output.confirm(`Delete ${names}`, found.length, options.yes);
  // The API deletes what a manager no longer names. These documents get a manager of their own, which then names none.
  const manager = `cli:delete-${randomUUID()}`;
  await client.call(declarativeApply, { body: { manager, documents: found.map(withoutSecrets), force: true } });
  const body = { manager, documents: [], prune: true, force: true };
  const { data: changes } = await client.call(declarativeApply, { body });
  await printChanges(changes, around);
}

/** Returns the part of a document that identifies what it owns. */
function withoutSecrets(document: DeclarativeDocument): unknown {
  if (document.kind !== "Channel") return document;
  const { type, deletionPolicy } = document.spec;
  return { ...document, spec: { type, ...(deletionPolicy === undefined ? {} : { deletionPolicy }) } };
}

const CHANGES: Shape<DeclarativeChange> = {
  kind: "Change",
  columns: [
    plain("ACTION", "action"),
    plain("KIND", "kind"),
    plain("NAME", "name"),
    plain("MESSAGE", "message"),
    { title: "FIELDS", value: ({ fields }) => fields.map(({ field }) => field).join(",") },
  ],
  name: ({ kind, name }) => `${kind}/${name}`,
};

/** How the gateway's message about a missing secret begins. */
const UNFOUND = "not found: ";

/** Prints the changes; unchanged documents only with `-v`. */
async function printChanges(all: readonly DeclarativeChange[], { output, isVerbose }: Surroundings): Promise<void> {
  const isShown = ({ action, message }: DeclarativeChange) => isVerbose || action !== "unchanged" || message !== "";
  const changes = isForPeople(output) ? all.filter(isShown) : all;
  if (isForPeople(output) && output.columns === undefined) for (const change of changes) printChange(change, output);
  else {
    const printer = await openRows(output, CHANGES);
    for (const change of changes) printer.add(change);
    printer.end();
  }
  if (changes.some(({ message }) => message.startsWith(UNFOUND)) && isForPeople(output))
    output.note(
      "The gateway has no such secret. A channel's `keyFrom: {env: NAME}` reads one where this command runs.",
    );
  const summary = summarizeChanges(all.filter(isShown));
  if (summary !== "") output.note(summary);
}

function printChange(change: DeclarativeChange, output: Output): void {
  for (const line of formatChange(change)) output.out(line);
}
