import { nearest } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printList, type Output, type Shape } from "../../print/output.ts";
import { fieldAt, listKindFields, KINDS, type FieldShape } from "./shape.ts";

interface Row {
  readonly field: string;
  readonly type: string;
  readonly required: boolean;
}

const FIELDS: Shape<Row> = {
  kind: "Field",
  columns: [
    plain("FIELD", "field"),
    { ...plain("REQUIRED", "required"), value: ({ required }) => (required ? "yes" : "") },
    plain("TYPE", "type"),
  ],
  name: ({ field }) => field,
};

/** Secrets that `apply` replaces locally. */
const LOCAL: Readonly<Record<string, Row>> = {
  Channel: { field: "keyFrom", type: "{env: NAME} or {file: path}, read where `fairway apply` runs", required: false },
  OptionSet: {
    field: "valueFrom",
    type: "map of {env: NAME} or {file: path}, read where `fairway apply` runs",
    required: false,
  },
};

/** Prints the fields of a document: `Channel`, or `Channel.credentialsFrom`. */
export async function explainDocument(place: string | undefined, output: Output): Promise<void> {
  if (place === undefined) {
    const rows = KINDS.map((kind) => ({ field: kind, type: "document", required: false }));
    return printList(output, { ...FIELDS, rows, empty: "" });
  }
  const [word = "", ...path] = place.split(".").filter((part) => part !== "spec");
  const kind = KINDS.find((one) => one.toLowerCase() === word.toLowerCase());
  if (kind === undefined) throw unknown(`there is no kind ${word}`, word, KINDS);
  await printList(output, { ...FIELDS, rows: path.length === 0 ? listKindRows(kind) : rowsAt(kind, path), empty: "" });
}

function listKindRows(kind: string): Row[] {
  const rows = listKindFields(kind).map(buildFieldRow);
  const own = LOCAL[kind];
  return own ? [...rows, own] : rows;
}

function rowsAt(kind: string, path: readonly string[]): Row[] {
  const found = fieldAt(kind, path);
  if (found) return (found.fields.length > 0 ? found.fields : [found]).map(buildFieldRow);
  const around = path.length === 1 ? listKindFields(kind) : (fieldAt(kind, path.slice(0, -1))?.fields ?? []);
  const known = around.map(({ name }) => name);
  throw unknown(`${kind} has no field ${path.join(".")}`, path.at(-1) ?? "", known);
}

function buildFieldRow({ name, type, isRequired }: FieldShape): Row {
  return { field: name, type, required: isRequired };
}

function unknown(message: string, word: string, known: readonly string[]): CliError {
  const near = nearest(word, known);
  return new CliError(
    message,
    EXIT.notFound,
    near === undefined ? `choose among ${known.join(", ")}` : `did you mean ${near}?`,
  );
}
