import { nearest } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { documentWriter, printList, type Output } from "../../print/output.ts";
import { DESCRIBED, type Described } from "./outputs.ts";

type Row = Pick<Described, "name" | "where">;

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Prints all names, or the JSON Schema of one; `NAMEList` is the schema of a list of it. */
export async function showSchema(name: string | undefined, output: Output): Promise<void> {
  if (name === undefined) {
    const rows = DESCRIBED.map((one): Row => ({ name: one.name, where: one.where }));
    const columns = [plain<Row>("NAME", "name"), plain<Row>("WHERE", "where")];
    return printList(output, { kind: "Schema", columns, rows, name: (row) => `schema/${row.name}`, empty: "" });
  }
  (await documentWriter(output))({ $schema: DIALECT, ...resolveSchema(name) });
}

function resolveSchema(name: string): Readonly<Record<string, unknown>> {
  const exact = DESCRIBED.find((one) => one.name === name);
  if (exact) return { title: name, ...exact.schema() };
  const item = DESCRIBED.find((one) => `${one.name}List` === name);
  if (item) return buildListSchema(item);
  const near = nearest(
    name,
    DESCRIBED.map((one) => one.name),
  );
  throw new CliError(
    `there is no schema ${name}`,
    EXIT.notFound,
    near === undefined ? "list them with `fairway schema`" : `did you mean ${near}?`,
  );
}

function buildListSchema({ name, schema }: Described): Readonly<Record<string, unknown>> {
  return {
    title: `${name}List`,
    type: "object",
    properties: {
      kind: { const: `${name}List` },
      items: { type: "array", items: schema() },
      page: {
        type: "object",
        description: "Only where rows are left out.",
        properties: { complete: { type: "boolean" }, total: { type: "integer" } },
        required: ["complete"],
      },
    },
    required: ["kind", "items"],
  };
}
