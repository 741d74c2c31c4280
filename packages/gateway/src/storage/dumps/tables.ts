import { DumpError, readArray, type DumpValue } from "./literals.ts";

interface DumpColumn {
  readonly name: string;
  /** How a value of the dump is stored. */
  readonly convert: (value: string) => string;
  /** Type of the column in SQLite. */
  readonly type: "integer" | "text" | "numeric";
}

export interface DumpTable {
  readonly name: string;
  readonly columns: readonly DumpColumn[];
}

const NAME = /(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([A-Za-z_][\w$]*))/y;
/** Begins of definitions that are no columns. In MySQL, every column is quoted; in PostgreSQL, `key` is a plain name. */
const NO_COLUMN =
  /^(?:PRIMARY|CONSTRAINT|UNIQUE|CHECK|FOREIGN|EXCLUDE|LIKE|KEY\s+[`(]|INDEX\s+[`(]|FULLTEXT|SPATIAL)\b/i;

interface Named {
  readonly name: string;
  /** Behind the name. */
  readonly at: number;
}

/** Reads a name such as `users`, `public."users"` or `db`.`users` without its schema; undefined if there is none. */
export function readTableName(text: string, from: number): Named | undefined {
  let at = from + (/^\s*/.exec(text.slice(from, from + 64))?.[0].length ?? 0);
  for (;;) {
    NAME.lastIndex = at;
    const found = NAME.exec(text);
    if (!found) return undefined;
    at += found[0].length;
    const name = found[1]?.replaceAll('""', '"') ?? found[2]?.replaceAll("``", "`") ?? found[3] ?? "";
    if (text[at] !== ".") return { name, at };
    at += 1;
  }
}

/** Returns the columns of a list such as `("id", "name")` at a position, and where it ends; undefined without one. */
export function readColumnNames(text: string, from: number): { names: string[]; at: number } | undefined {
  const found = /^\s*\(([^()']*)\)/.exec(text.slice(from, from + 65_536));
  if (!found) return undefined;
  const names = (found[1] ?? "").split(",").map((part) => readTableName(part, 0)?.name ?? "");
  if (names.includes("")) throw new DumpError("an INSERT names its columns in a form that is not known");
  return { names, at: from + found[0].length };
}

/** Reads a `CREATE TABLE`; undefined for other statements. */
export function readCreateTable(text: string): DumpTable | undefined {
  const begin = /^CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?/i.exec(text);
  const named = begin ? readTableName(text, begin[0].length) : undefined;
  const open = named ? text.indexOf("(", named.at) : -1;
  if (!named || open < 0) return undefined;
  const columns = splitDefinitions(text, open + 1).flatMap((definition) => readColumn(definition) ?? []);
  return { name: named.name, columns };
}

function readColumn(definition: string): DumpColumn | undefined {
  if (NO_COLUMN.test(definition)) return undefined;
  const named = readTableName(definition, 0);
  if (!named) return undefined;
  const type = definition.slice(named.at).trim().toLowerCase();
  return { name: named.name, convert: findConversion(type), type: findType(type) };
}

function findType(type: string): DumpColumn["type"] {
  if (/^(?:tiny|small|medium|big)?(?:int|serial)|^integer|^bool/.test(type) && !type.includes("[]")) return "integer";
  return /^(?:decimal|numeric|double|float|real)/.test(type) ? "numeric" : "text";
}

function findConversion(type: string): DumpColumn["convert"] {
  if (/^[\w\s]+(?:\(\d+\))?\[\]/.test(type)) return (value) => (value.startsWith("{") ? readArray(value) : value);
  if (type.startsWith("bool")) return (value) => (value === "t" ? "1" : value === "f" ? "0" : value);
  // A zone of hours alone is not understood by everything that reads times.
  if (/^timestamp.*with time zone|^timestamptz/.test(type)) return (value) => value.replace(/([+-]\d\d)$/, "$1:00");
  return (value) => value;
}

/** Splits the definitions of a table at the commas that are in no parentheses and no quotes. */
function splitDefinitions(text: string, from: number): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = from;
  const special = /[(),]|'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g;
  special.lastIndex = from;
  for (let found = special.exec(text); found; found = special.exec(text)) {
    const [sign] = found;
    if (sign === "(") depth += 1;
    else if (sign === ")" && depth > 0) depth -= 1;
    else if ((sign === "," || sign === ")") && depth === 0) {
      parts.push(text.slice(begin, found.index).trim());
      if (sign === ")") return parts;
      begin = found.index + 1;
    }
  }
  throw new DumpError("a CREATE TABLE has no end");
}

/** Returns the values in the order of the columns of the table. */
export function arrange(table: DumpTable, names: readonly string[] | undefined, values: readonly DumpValue[]) {
  const given = names ?? table.columns.map(({ name }) => name);
  if (given.length !== values.length) throw new DumpError(`a row of ${table.name} has ${values.length} values`);
  return table.columns.map(({ name, convert }) => {
    const at = names === undefined ? given.indexOf(name) : names.indexOf(name);
    const value = at < 0 ? null : (values[at] ?? null);
    return value === null ? null : convert(value);
  });
}
