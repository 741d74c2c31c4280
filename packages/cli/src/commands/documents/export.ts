import { declarativeExport, type Client, type DeclarativeDocument } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { documentWriter, isForPeople, openRows, type Output, type Shape } from "../../print/output.ts";
import type { Exportable } from "./compatible-rows.ts";
import { documentText } from "./files.ts";

export interface ExportOptions {
  /** `fairway`, the default, means documents. */
  readonly format?: "fairway" | "yaml" | "json" | "jsonl" | "family-json";
  readonly includeIds?: boolean;
  readonly splitDir?: string;
}

const KIND: Readonly<Record<string, string>> = {
  channels: "Channel",
  tokens: "Token",
  options: "OptionSet",
  budgets: "Budget",
  users: "User",
  all: "",
};

const IN_COMPATIBLE: readonly Exportable[] = ["channels", "tokens", "options"];

/** Exports documents that `apply` accepts, or rows of a compatible gateway. */
export async function exportAs(
  client: Client,
  { what, format, includeIds = false, splitDir }: ExportOptions & { readonly what: string },
  output: Output,
): Promise<void> {
  if (format !== "family-json")
    return exportDocuments(
      client,
      { what, folder: splitDir, withIds: includeIds },
      format === undefined || format === "fairway" ? output : { ...output, format },
    );
  const rows = IN_COMPATIBLE.filter((one) => one === what || what === "all");
  if (rows.length === 0 || splitDir !== undefined)
    throw new CliError(
      rows.length === 0 ? `compatible gateways have no ${what}` : "rows of compatible gateways are one file",
      EXIT.usage,
      "leave out --format family-json",
    );
  return (await import("./compatible-rows.ts")).exportCompatible(client, { what: rows, withIds: includeIds }, output);
}

type Exported = Pick<DeclarativeDocument, "metadata"> & { readonly kind: string };

/** A table has no room for the content of documents. */
const DOCUMENTS: Shape<Exported> = {
  kind: "Document",
  columns: [plain("KIND", "kind"), { title: "NAME", value: ({ metadata }) => metadata.name }],
  name: ({ kind, metadata }) => `${kind}/${metadata.name}`,
};

/** Exports documents one after the other, ready for `apply`; secrets are named, never shown. */
async function exportDocuments(
  client: Client,
  { what, folder, withIds }: { readonly what: string; readonly folder: string | undefined; readonly withIds: boolean },
  output: Output,
): Promise<void> {
  const { data } = await client.call(declarativeExport, { query: { kind: KIND[what], ids: withIds } });
  if (folder === undefined) return printDocuments(data, output);
  const { writeDocuments } = await import("./split.ts");
  const files = writeDocuments(folder, data);
  output.note(`Wrote ${files.length} documents to ${folder}.`);
}

/** Prints the CustomResourceDefinitions of these documents, as this version of the CLI knows them. */
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
