import { declarativeApply, type Client, type DeclarativeChange, type DeclarativeDocument } from "@fairway/wire";
import type { Column } from "../../print/table.ts";
import { fieldText, linesOf, placeOf, readPlan, SIGN, summaryOf, type Environment } from "../documents/plan.ts";
import { resource, type Resource } from "./resource.ts";

const COLUMNS: readonly Column<DeclarativeChange>[] = [
  { title: "ACTION", value: ({ action }) => `${SIGN[action]} ${action}` },
  { title: "DOCUMENT", value: keyOf },
  { title: "CHANGES", value: ({ message, fields }) => (message === "" ? fields.map(fieldText).join(", ") : message) },
];

/** The owner that `fairway apply` has without --manager. */
const MANAGER = "cli";

/**
 * What documents would change, one document a row. All that can be applied are marked; only marked ones are applied,
 * as they were read for the rows. Fails with the mistakes of the documents.
 */
export async function planResource(client: Client, file: readonly string[], env: Environment): Promise<Resource> {
  const read = () => readPlan(client, { file, manager: MANAGER }, env);
  let first: Awaited<ReturnType<typeof read>> | undefined = await read();
  let shown = first;
  return resource<DeclarativeChange>({
    name: "changes",
    aliases: [],
    columns: COLUMNS,
    async rows() {
      const marked = first?.plan.filter(isApplicable).map(keyOf);
      shown = first ?? (await read());
      first = undefined;
      const rows = shown.plan.filter(({ action }) => action !== "unchanged");
      return { rows, isCut: false, ...(marked && { marked }) };
    },
    keyOf,
    labelOf: keyOf,
    isOff: ({ action }) => action === "conflict",
    detail: (change) => Promise.resolve(linesOf(change)),
    actions: (change) => (isApplicable(change) ? { apply: () => Promise.resolve() } : {}),
    async together(rows) {
      const wanted = new Set(rows.map(keyOf));
      const documents = shown.body.documents.filter((one) => wanted.has(placeOf(one as DeclarativeDocument)));
      const { data } = await client.call(declarativeApply, { body: { ...shown.body, documents } });
      return `Applied: ${summaryOf(data)}.`;
    },
  });
}

function keyOf({ kind, name }: DeclarativeChange): string {
  return `${kind}/${name}`;
}

function isApplicable({ action }: DeclarativeChange): boolean {
  return action === "create" || action === "update";
}
