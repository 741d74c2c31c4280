import {
  declarativeApply,
  declarativeManaged,
  declarativePlan,
  type Client,
  type DeclarativeChange,
  type DeclarativeDocument,
  type FieldChange,
} from "@fairway/wire";
import { randomUUID } from "node:crypto";
import { readDocuments } from "./files.ts";
import { withLocalSecrets } from "./local-secrets.ts";
import { mistakesIn } from "./mistakes.ts";
import { CliError, EXIT, Said } from "../../core/exit.ts";
import { exitCodeOf, hintOf, messageOf } from "../../core/problem.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, openRows, type Output, type Shape } from "../../print/output.ts";
import { readStdin } from "../../terminal/prompt.ts";

interface DocumentSource {
  readonly file: readonly string[];
  readonly recursive?: boolean;
}

export interface DocumentOptions extends DocumentSource {
  readonly manager: string;
  readonly prune?: boolean;
  readonly force?: boolean;
}

export interface DeleteOptions extends DocumentSource {
  readonly manager: string;
  readonly yes?: boolean;
}

export interface ApplyOptions extends DocumentOptions {
  readonly dryRun?: boolean;
  /** Milliseconds in which each replica has to use the documents; undefined = no wait. */
  readonly waitMs?: number | undefined;
  readonly yes?: boolean;
}

/** Documents ready to be sent, with the places where they are written. */
async function read({ file, recursive = false }: DocumentSource, env: Environment) {
  const stdin = () => readStdin("Documents");
  const placed = await readDocuments(file, { isRecursive: recursive, stdin });
  return { placed, documents: placed.map((one) => withLocalSecrets(one, env)) };
}

/** Requests a plan; a refusal names file, line and field of every mistake. */
async function planOf(client: Client, options: DocumentOptions, { output, env }: Surroundings) {
  const { manager, prune = false, force = false } = options;
  const { placed, documents } = await read(options, env);
  const body = { manager, prune, force, documents };
  try {
    return { body, plan: (await client.call(declarativePlan, { body })).data };
  } catch (error) {
    const lines = await mistakesIn(client, placed, error);
    if (lines.length === 0) throw error;
    for (const line of lines) output.note(line);
    const count = lines.length === 1 ? "a mistake" : `${lines.length} mistakes`;
    throw new CliError(
      `the documents have ${count}; nothing was changed`,
      EXIT.usage,
      "`fairway explain KIND` lists the fields",
    );
  }
}

interface Surroundings {
  readonly output: Output;
  readonly env: Environment;
  readonly isVerbose: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As `diff` and `kubectl diff` do: 1 if something differs, more if the comparison failed. */
export async function diffDocuments(client: Client, options: DocumentOptions, around: Surroundings): Promise<void> {
  const { plan } = await planOf(client, options, around).catch((error: unknown) => {
    // 1 means that something differs.
    throw exitCodeOf(error) === EXIT.failure ? new CliError(messageOf(error), EXIT.usage, hintOf(error)) : error;
  });
  await printChanges(plan, around);
  if (plan.some(({ action }) => action !== "unchanged")) throw new Said(EXIT.failure);
}

/** Applies documents. Deletions require a confirmation; conflicts are skipped and end with exit code 5. */
export async function applyDocuments(client: Client, options: ApplyOptions, around: Surroundings): Promise<void> {
  const { output } = around;
  const { body, plan } = await planOf(client, options, around);
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

/** Deletes what documents name and their manager owns, as their deletionPolicy says. */
export async function deleteDocuments(client: Client, options: DeleteOptions, around: Surroundings): Promise<void> {
  const { output, env } = around;
  const { documents } = await read(options, env);
  const { data: managed } = await client.call(declarativeManaged, {});
  const places = new Set(
    managed.filter(({ owner }) => owner === options.manager).map(({ kind, name }) => `${kind}/${name}`),
  );
  const found = (documents as DeclarativeDocument[]).filter((one) => places.has(placeOf(one)));
  const others = (documents as DeclarativeDocument[]).filter((one) => !places.has(placeOf(one)));
  for (const one of others) output.note(`= ${placeOf(one)} is not managed by ${options.manager}`);
  if (found.length === 0) return;
  const names = found.map(placeOf).join(", ");
  await output.confirm(`Delete ${names}`, found.length, options.yes);
  // The API deletes what a manager no longer names: these documents get one of their own, which then names none.
  const manager = `cli:delete-${randomUUID()}`;
  await client.call(declarativeApply, { body: { manager, documents: found.map(withoutSecrets), force: true } });
  const body = { manager, documents: [], prune: true, force: true };
  const { data: changes } = await client.call(declarativeApply, { body });
  await printChanges(changes, around);
}

function placeOf({ kind, metadata }: Pick<DeclarativeDocument, "kind" | "metadata">): string {
  return `${kind}/${metadata?.name}`;
}

/** As much of a document as names what it owns. */
function withoutSecrets(document: DeclarativeDocument): unknown {
  if (document.kind !== "Channel") return document;
  const { type, deletionPolicy } = document.spec;
  return { ...document, spec: { type, ...(deletionPolicy === undefined ? {} : { deletionPolicy }) } };
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
  const summary = summaryOf(all.filter(isShown));
  if (summary !== "") output.note(summary);
}

function printChange({ action, kind, name, message, fields }: DeclarativeChange, output: Output): void {
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
  return [...counts].map(([action, count]) => `${count} ${action}`).join(", ");
}
