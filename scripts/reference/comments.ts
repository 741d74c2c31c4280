import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

/** Comments on schema fields in the sources. */
export interface Comments {
  /** Returns the comment of a field in the declaration of that name, or in one that it extends; "" if there is none. */
  about(declaration: string, field: string): string;
}

interface Declared {
  readonly name: string;
  readonly fields: Map<string, string>;
  /** Declarations whose members are included. */
  readonly takes: string[];
}

const DEPTH = 4;
const DECLARATION = /^(?:export )?const (\w+)/;
const FIELD = /^\s*(?:readonly )?(\w+)\??:/;
/** `...fields`, `body: Form`, `subjects: z.array(Row)` and `body,`. */
const TAKEN = /\.\.\.(\w+)|\b\w+: (?:z\.\w+\()*(\w+)|^\s*(body|query|data),$/g;

/** Reads the comments above the members of top-level declarations. */
export function loadComments(folder: string): Comments {
  const path = join(ROOT, folder);
  const files = readdirSync(path, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  const all = files.flatMap((file) => parseDeclarations(readFileSync(join(path, file), "utf8")));
  const declarations = new Map(all.map((declared) => [declared.name, declared]));
  const find = (declaration: string, field: string, depth: number): string => {
    const declared = declarations.get(declaration);
    const own = declared?.fields.get(field);
    if (own !== undefined || !declared || depth === 0) return own ?? "";
    return declared.takes.map((name) => find(name, field, depth - 1)).find((text) => text !== "") ?? "";
  };
  return { about: (declaration, field) => find(declaration, field, DEPTH) };
}

function parseDeclarations(source: string): Declared[] {
  const found: Declared[] = [];
  let comment = "";
  let isOpen = false;
  for (const line of source.split("\n")) {
    const text = line.trim();
    if (text.startsWith("/**")) {
      comment = "";
      isOpen = true;
    }
    if (isOpen) {
      comment = `${comment} ${bare(text)}`.trim();
      isOpen = !text.endsWith("*/");
    } else if (text !== "") {
      read(line, comment, found);
      comment = "";
    }
  }
  return found;
}

/** Returns the text of one comment line. */
function bare(text: string): string {
  return text
    .replace(/^\/?\*+/, "")
    .replace(/\*\/$/, "")
    .trim();
}

function read(line: string, comment: string, found: Declared[]): void {
  const name = DECLARATION.exec(line)?.[1];
  if (name !== undefined) found.push({ name, fields: new Map(), takes: [] });
  const declared = found.at(-1);
  for (const [, ...names] of line.matchAll(TAKEN)) declared?.takes.push(...names.filter(Boolean));
  const field = FIELD.exec(line)?.[1];
  if (field !== undefined && comment !== "") declared?.fields.set(field, comment);
}
