import {
  declarativePlan,
  type Client,
  type DeclarativeChange,
  type DeclarativeDocument,
  type FieldChange,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { readStdin } from "../../terminal/prompt.ts";
import { readDocuments } from "./files.ts";
import { withLocalSecrets } from "./local-secrets.ts";
import { mistakesIn } from "./mistakes.ts";

export interface DocumentSource {
  readonly file: readonly string[];
  readonly recursive?: boolean;
}

export interface DocumentOptions extends DocumentSource {
  readonly manager: string;
  readonly prune?: boolean;
  readonly force?: boolean;
  readonly forceConflicts?: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads documents, ready to send, with their positions in the files. */
export async function readFiles({ file, recursive = false }: DocumentSource, env: Environment) {
  const stdin = () => readStdin("Documents");
  const placed = await readDocuments(file, { isRecursive: recursive, stdin });
  return { placed, documents: placed.map((one) => withLocalSecrets(one, env)) };
}

/** Documents that the gateway refuses; each line names the file, line and field of a mistake. */
export class MistakenDocuments extends CliError {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    const count = lines.length === 1 ? "a mistake" : `${lines.length} mistakes`;
    super(`the documents have ${count}; nothing was changed`, EXIT.usage, "`fairway explain KIND` lists the fields");
    this.name = "MistakenDocuments";
    this.lines = lines;
  }
}

/** Returns the plan of documents, and the body of the call that applies it. */
export async function readPlan(client: Client, options: DocumentOptions, env: Environment) {
  const { manager, prune = false, forceConflicts = false, force = forceConflicts } = options;
  const { placed, documents } = await readFiles(options, env);
  const body = { manager, prune, force, documents };
  try {
    return { body, plan: (await client.call(declarativePlan, { body })).data };
  } catch (error) {
    const lines = await mistakesIn(client, placed, error);
    throw lines.length === 0 ? error : new MistakenDocuments(lines);
  }
}

export function formatDocumentName({ kind, metadata }: Pick<DeclarativeDocument, "kind" | "metadata">): string {
  return `${kind}/${metadata?.name}`;
}

export const SIGN: Readonly<Record<DeclarativeChange["action"], string>> = {
  create: "+",
  update: "~",
  delete: "-",
  unchanged: "=",
  conflict: "!",
};

/** Formats a change and its fields for people. */
export function formatChange({ action, kind, name, message, fields }: DeclarativeChange): string[] {
  const head = `${SIGN[action]} ${kind}/${name}  ${action}${message === "" ? "" : `: ${message}`}`;
  return [head, ...fields.map((field) => `    ${fieldText(field)}`)];
}

export function fieldText({ field, old: before, new: after }: FieldChange): string {
  const was = before === undefined ? "" : `${JSON.stringify(before)} → `;
  return `${field}  ${was}${after === undefined ? "(default)" : JSON.stringify(after)}`;
}

export function summarizeChanges(changes: readonly DeclarativeChange[]): string {
  const counts = new Map<string, number>();
  for (const { action } of changes) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].map(([action, count]) => `${count} ${action}`).join(", ");
}
