import { CliError, EXIT } from "../core/exit.ts";
import { formatCell } from "./columns.ts";
import type { Templated } from "./format.ts";
import { valuesAt } from "./json-path.ts";
import type { Paper, RowPrinter } from "./rows.ts";
import { growingTable, table, type Column } from "./table.ts";

/** Prints rows with a template: as one document for `jsonpath`, as one line each for `custom-columns`. */
export function templateRows<Row extends object>(output: Paper, kind: string, format: Templated): RowPrinter<Row> {
  if (format.startsWith("custom-columns=")) {
    const line = growingTable(customColumns(format), output.width, output.hasTitles);
    return { add: (row) => output.out(line(row)), end: () => undefined };
  }
  const streamed = streamRows<Row>(output, parsed(format.slice("jsonpath=".length)));
  if (streamed) return streamed;
  const items: Row[] = [];
  return {
    add: (row) => void items.push(row),
    end: () => printTemplate(output, { kind: `${kind}List`, items }, format),
  };
}

/** A path whose values in a list are those in its first row, then those in its second, and so on. */
const BY_ROW = /^\$?\.?items\[(\*|\?\()/;

/**
 * Prints each row when it comes, so that a list of any length needs no memory; undefined if the template needs the
 * list as a whole, as `.items[-1]` does.
 */
function streamRows<Row>(output: Paper, parts: readonly Part[]): RowPrinter<Row> | undefined {
  const at = parts.findIndex(({ type }) => type !== "text");
  const part = parts[at];
  const rest = parts.slice(at + 1);
  if (!part || part.type === "text" || !BY_ROW.test(part.path.trim()) || rest.some(({ type }) => type !== "text"))
    return undefined;
  // A path that cannot be read fails before the first row, and for an empty list too.
  rendered([part], { items: [] });
  const writer = createTextWriter(output);
  writer.write(rendered(parts.slice(0, at), undefined));
  let isFirst = true;
  return {
    add(row) {
      const items = [row];
      if (part.type === "path" && valuesAt({ items }, part.path).length === 0) return;
      const text = rendered([part], { items });
      writer.write(part.type === "path" && !isFirst ? ` ${text}` : text);
      isFirst = false;
    },
    end() {
      writer.write(rendered(rest, undefined));
      writer.end();
    },
  };
}

/** Writes a text in pieces, with one line end behind it. */
function createTextWriter({ write }: Paper) {
  let held = "";
  let isWritten = false;
  return {
    write(piece: string) {
      const text = held + piece;
      held = text.endsWith("\n") ? "\n" : "";
      const ready = held === "" ? text : text.slice(0, -1);
      if (ready === "") return;
      write(ready);
      isWritten = true;
    },
    end() {
      if (isWritten) write("\n");
    },
  };
}

/** Prints one object with a template. */
export function printTemplate(output: Paper, value: object, format: Templated): void {
  if (format.startsWith("custom-columns="))
    return output.out(table(customColumns(format), [value], output.width, output.hasTitles));
  const text = rendered(parsed(format.slice("jsonpath=".length)), value).replace(/\n$/, "");
  if (text !== "") output.out(text);
}

/** Parses `ID:.id,NAME:.name` as columns; a missing value is printed as `<none>`. */
function customColumns(format: string): Column<object>[] {
  return format
    .slice("custom-columns=".length)
    .split(",")
    .map((part) => {
      const [, title, path] = /^([^:]+):(.+)$/s.exec(part.trim()) ?? [];
      if (title === undefined || path === undefined)
        throw new CliError(`custom-columns: ${part} is not TITLE:.path`, EXIT.usage, "write ID:.id,NAME:.name");
      const value = (row: object) => valuesAt(row, path).map(formatCell).join(",") || "<none>";
      return { title, value };
    });
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "path"; readonly path: string }
  | { readonly type: "range"; readonly path: string; readonly body: readonly Part[] };

/** Text, `{.path}`, `{"\\n"}` and `{range .path}…{end}`, as kubectl writes them. */
function parsed(template: string): Part[] {
  // A bare path, without braces.
  if (!template.includes("{")) return [{ type: "path", path: template }];
  if (template.replaceAll(/\{[^{}]*\}/g, "").match(/[{}]/))
    throw new CliError("jsonpath: a brace has no partner", EXIT.usage, "write {.items[*].name}");
  const open: { path: string; body: Part[] }[] = [{ path: "", body: [] }];
  for (const [, text, inside] of template.matchAll(/([^{}]+)|\{([^{}]*)\}/g)) {
    const here = open.at(-1)?.body ?? [];
    if (text !== undefined) here.push({ type: "text", text });
    else if (inside !== undefined) placeIn(open, here, inside.trim());
  }
  const [all, ...more] = open;
  if (!all || more.length > 0) throw new CliError("jsonpath: a {range} has no {end}", EXIT.usage);
  return all.body;
}

function placeIn(open: { path: string; body: Part[] }[], here: Part[], inside: string): void {
  const range = /^range\s+(.+)$/s.exec(inside)?.[1];
  if (range !== undefined) return void open.push({ path: range, body: [] });
  if (inside === "end") {
    const closed = open.length > 1 ? open.pop() : undefined;
    if (!closed) throw new CliError("jsonpath: an {end} has no {range}", EXIT.usage);
    return void open.at(-1)?.body.push({ type: "range", ...closed });
  }
  const quoted = /^(["'])(.*)\1$/s.exec(inside)?.[2];
  if (quoted === undefined) here.push({ type: "path", path: inside });
  else
    here.push({ type: "text", text: quoted.replace(/\\([nt\\])/g, (_all, letter) => ESCAPES[String(letter)] ?? "") });
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", "\\": "\\" };

function rendered(parts: readonly Part[], value: unknown): string {
  return parts
    .map((part) => {
      if (part.type === "text") return part.text;
      const found = valuesAt(value, part.path);
      if (part.type === "path") return found.map(formatCell).join(" ");
      return found.map((one) => rendered(part.body, one)).join("");
    })
    .join("");
}
