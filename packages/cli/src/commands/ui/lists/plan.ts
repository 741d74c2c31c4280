import { declarativeApply, type Client, type DeclarativeChange, type DeclarativeDocument } from "@fairway/wire";
import { CliError, EXIT } from "../../../core/exit.ts";
import type { Column } from "../../../print/table.ts";
import {
  fieldText,
  formatChange,
  formatDocumentName,
  readPlan,
  SIGN,
  summarizeChanges,
  type Environment,
} from "../../documents/plan.ts";
import { resource, type Resource } from "./resource.ts";

const COLUMNS: readonly Column<DeclarativeChange>[] = [
  { title: "ACTION", value: ({ action }) => `${SIGN[action]} ${action}` },
  { title: "DOCUMENT", value: getRowKey },
  { title: "CHANGES", value: ({ message, fields }) => (message === "" ? fields.map(fieldText).join(", ") : message) },
];

/** The default owner of `fairway apply`, without --manager. */
const MANAGER = "cli";

export interface PlanFiles {
  readonly file: readonly string[];
  /** Also deletes what the documents no longer mention. */
  readonly prune: boolean;
}

/**
 * Shows what documents would change, one document per row, deletions last. All creations and changes are marked; only
 * marked ones are applied, in the version that was read for the rows. Fails with the mistakes of the documents.
 */
export async function planResource(client: Client, files: PlanFiles, env: Environment): Promise<Resource> {
  const read = () => readPlan(client, { ...files, manager: MANAGER }, env);
  let first: Awaited<ReturnType<typeof read>> | undefined = await read();
  let shown = first;
  return resource<DeclarativeChange>({
    name: "changes",
    aliases: [],
    columns: COLUMNS,
    async rows() {
      const marked = first?.plan.filter(isMade).map(getRowKey);
      shown = first ?? (await read());
      first = undefined;
      const changes = shown.plan.filter(({ action }) => action !== "unchanged");
      const rows = [...changes.filter((one) => !isDeleted(one)), ...changes.filter(isDeleted)];
      return { rows, isCut: false, summary: summarizeChanges(shown.plan), ...(marked && { marked }) };
    },
    getRowKey,
    getRowLabel: getRowKey,
    isOff: ({ action }) => action === "conflict",
    deletes: (change) => (isDeleted(change) ? change.name : undefined),
    detail: (change) => Promise.resolve(formatChange(change)),
    actions: (change) => (isMade(change) || isDeleted(change) ? { apply: () => Promise.resolve() } : {}),
    async together(rows) {
      const wanted = new Set(rows.filter(isMade).map(getRowKey));
      const documents = shown.body.documents.filter((one) =>
        wanted.has(formatDocumentName(one as DeclarativeDocument)),
      );
      const remove = rows.filter(isDeleted).map(({ kind, name }) => ({ kind, name }));
      const body = { ...shown.body, documents, prune: false, ...(remove.length > 0 && { remove }) };
      const { data } = await client.call(declarativeApply, { body });
      if (data.filter(isDeleted).length < remove.length)
        throw new CliError(
          `applied ${summarizeChanges(data)}, but this gateway does not delete single documents`,
          EXIT.failure,
          "update it, or run `fairway apply --prune`",
        );
      return `Applied: ${summarizeChanges(data)}.`;
    },
  });
}

function getRowKey({ kind, name }: DeclarativeChange): string {
  return `${kind}/${name}`;
}

function isMade({ action }: DeclarativeChange): boolean {
  return action === "create" || action === "update";
}

function isDeleted({ action }: DeclarativeChange): boolean {
  return action === "delete";
}
