import {
  declarativeApply,
  declarativeExport,
  declarativePlan,
  type Client,
  type DeclarativeChange,
  type DeclarativeDocument,
  type FieldChange,
} from "@fairway/wire";
import { documentText, readDocuments } from "./files.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { exitCodeOf, hintOf, messageOf } from "../../core/problem.ts";
import { plain } from "../../print/columns.ts";
import { documentWriter, isForPeople, openRows, type Output, type Shape } from "../../print/output.ts";
import { readStdin } from "../../terminal/prompt.ts";

export interface DocumentOptions {
  readonly file: readonly string[];
  readonly recursive?: boolean;
  readonly manager: string;
  readonly prune?: boolean;
  readonly force?: boolean;
}

export interface ApplyOptions extends DocumentOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function bodyOf({ file, recursive = false, manager, prune = false, force = false }: DocumentOptions) {
  const stdin = () => readStdin("Documents");
  return { manager, prune, force, documents: await readDocuments(file, { isRecursive: recursive, stdin }) };
}

/** As `diff` and `kubectl diff` do: 1 if something differs, more if the comparison failed. */
export async function diffDocuments(client: Client, options: DocumentOptions, output: Output): Promise<void> {
  try {
    const { data: changes } = await client.call(declarativePlan, { body: await bodyOf(options) });
    await printChanges(changes, output);
    if (changes.some(({ action }) => action !== "unchanged")) process.exitCode = EXIT.failure;
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.failure) throw error;
    throw new CliError(messageOf(error), EXIT.usage, hintOf(error));
  }
}

/** What would be deleted is asked for first; conflicts are left alone and end with 5. */
export async function applyDocuments(client: Client, options: ApplyOptions, output: Output): Promise<void> {
  const body = await bodyOf(options);
  const { data: plan } = await client.call(declarativePlan, { body });
  const deletions = plan.filter(({ action }) => action === "delete");
  if (options.dryRun) {
    await printChanges(plan, output);
    output.note("Nothing was changed: --dry-run.");
    return;
  }
  if (deletions.length > 0) {
    const names = deletions.map(({ kind, name }) => `${kind}/${name}`).join(", ");
    await output.confirm(`Delete ${names}`, deletions.length, options.yes);
  }
  const { data: changes } = await client.call(declarativeApply, { body });
  await printChanges(changes, output);
  const conflicts = changes.filter(({ action }) => action === "conflict").length;
  if (conflicts > 0)
    throw new CliError(`${conflicts} conflicts were left alone`, EXIT.conflict, "--force takes them over");
}

const SIGN: Readonly<Record<DeclarativeChange["action"], string>> = {
  create: "+",
  update: "~",
  delete: "-",
  unchanged: "=",
  conflict: "!",
};

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

async function printChanges(changes: readonly DeclarativeChange[], output: Output): Promise<void> {
  if (isForPeople(output) && output.columns === undefined) for (const change of changes) printChange(change, output);
  else {
    const printer = await openRows(output, CHANGES);
    for (const change of changes) printer.add(change);
    printer.end();
  }
  output.note(summaryOf(changes));
}

function printChange({ action, kind, name, message, fields }: DeclarativeChange, output: Output): void {
  if (action === "unchanged" && message === "") return;
  output.out(`${SIGN[action]} ${kind}/${name}  ${action}${message === "" ? "" : `: ${message}`}`);
  for (const field of fields) output.out(`    ${fieldText(field)}`);
}

function fieldText({ field, old: before, new: after }: FieldChange): string {
  const was = before === undefined ? "" : `${JSON.stringify(before)} → `;
  return `${field}  ${was}${after === undefined ? "(default)" : JSON.stringify(after)}`;
}

function summaryOf(changes: readonly DeclarativeChange[]): string {
  const counts = new Map<string, number>();
  for (const { action } of changes) counts.set(action, (counts.get(action) ?? 0) + 1);
  return changes.length === 0 ? "No documents." : [...counts].map(([action, count]) => `${count} ${action}`).join(", ");
}

const KIND: Readonly<Record<string, string>> = {
  channels: "Channel",
  tokens: "Token",
  options: "OptionSet",
  budgets: "Budget",
  all: "",
};

type Exported = Pick<DeclarativeDocument, "metadata"> & { readonly kind: string };

/** A table of documents has no room for what they say. */
const DOCUMENTS: Shape<Exported> = {
  kind: "Document",
  columns: [plain("KIND", "kind"), { title: "NAME", value: ({ metadata }) => metadata.name }],
  name: ({ kind, metadata }) => `${kind}/${metadata.name}`,
};

/** Documents one after the other, ready for `apply`; secrets are named, never shown. */
export async function exportDocuments(client: Client, what: string, output: Output): Promise<void> {
  const { data } = await client.call(declarativeExport, { query: { kind: KIND[what] } });
  return printDocuments(data, output);
}

/** The CustomResourceDefinitions of these documents, as this version of the command line knows them. */
export async function exportKinds(output: Output): Promise<void> {
  const { default: kinds } = await import("../kube/crds.json", { with: { type: "json" } });
  return printDocuments(kinds, output);
}

async function printDocuments(data: readonly Exported[], output: Output): Promise<void> {
  if (output.format === "json") (await documentWriter(output))({ kind: "DocumentList", items: data });
  else if (isForPeople(output) || output.format === "yaml") for (const one of data) output.out(documentText(one));
  else {
    const printer = await openRows(output, DOCUMENTS);
    for (const one of data) printer.add(one);
    printer.end();
  }
}
