import { CliError, EXIT } from "../core/exit.ts";

type Step = (values: readonly unknown[]) => unknown[];

/** Returns what a path finds: `.a.b`, `['a']`, `[0]`, `[-1]`, `[*]`, `.*`, `..name` and `[?(@.a=="b")]`. */
export function valuesAt(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const step of parseSteps(path)) found = step(found);
  return found.filter((one) => one !== undefined);
}

const TOKEN =
  /\.\.([\w-]+)|\.?\[(-?\d+)\]|\.?\[\*\]|\.\*|\.?\[\s*(['"])(.*?)\3\s*\]|\.?\[\?\(\s*@\.([\w.-]+)\s*(?:(==|!=|>=|<=|>|<)\s*(.+?))?\s*\)\]|\.([\w-]+)/y;

function parseSteps(path: string): Step[] {
  const text = path.trim().replace(/^[$@]/, "");
  if (text === "" || text === ".") return [];
  const steps: Step[] = [];
  const whole = /^[.[]/.test(text) ? text : `.${text}`;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < whole.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(whole);
    if (!match)
      throw new CliError(
        `${whole.slice(at)} is not part of a path`,
        EXIT.usage,
        "write .items[0].name, .items[*].id, ..name or .items[?(@.status==1)].name",
      );
    steps.push(parseStep(match));
  }
  return steps;
}

function parseStep(match: RegExpExecArray): Step {
  const [, deep, index, , quoted, tested, sign, wanted, member] = match;
  if (deep !== undefined) return (values) => values.flatMap((one) => membersNamed(one, deep));
  if (index !== undefined) return (values) => values.flatMap((one) => itemAt(one, Number(index)));
  if (tested !== undefined)
    return (values) =>
      values.flatMap(listChildren).filter((one) => isMet(valuesAt(one, `.${tested}`)[0], sign, wanted));
  const name = quoted ?? member;
  return name === undefined
    ? (values) => values.flatMap(listChildren)
    : (values) => values.map((one) => readMember(one, name));
}

function itemAt(value: unknown, index: number): unknown[] {
  return Array.isArray(value) ? [(value as readonly unknown[]).at(index)] : [];
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function listChildren(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function membersNamed(value: unknown, name: string): unknown[] {
  return [readMember(value, name), ...listChildren(value).flatMap((one) => membersNamed(one, name))].filter(
    (one) => one !== undefined,
  );
}

type Comparable = number | string | boolean;

const COMPARISONS: Readonly<Record<string, (a: Comparable, b: Comparable) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};

function isMet(value: unknown, sign: string | undefined, wanted: string | undefined): boolean {
  if (sign === undefined || wanted === undefined) return value !== undefined && value !== null && value !== false;
  const right = parseLiteral(wanted);
  if (!isComparable(value) || typeof value !== typeof right) return sign === "!=";
  return COMPARISONS[sign]?.(value, right) ?? false;
}

function isComparable(value: unknown): value is Comparable {
  return ["number", "string", "boolean"].includes(typeof value);
}

function parseLiteral(text: string): Comparable {
  const quoted = /^(['"])(.*)\1$/s.exec(text)?.[2];
  if (quoted !== undefined) return quoted;
  if (text === "true" || text === "false") return text === "true";
  return Number.isNaN(Number(text)) ? text : Number(text);
}
