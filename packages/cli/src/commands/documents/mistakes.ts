import { ApiProblem, channelTypes, OPTION_KEYS, type Client, nearest } from "@fairway/wire";
import type { Placed } from "./files.ts";
import { DeclarativeDocument, fieldAt, listKindFields, KINDS } from "./shape.ts";

/** A mistake in a document, with its position. */
interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly text: string;
  readonly near?: string | undefined;
}

/** Returns the mistakes behind a refusal of the gateway, one line each; empty if none is found. */
export async function mistakesIn(client: Client, documents: readonly Placed[], refusal: unknown): Promise<string[]> {
  if (!(refusal instanceof ApiProblem) || refusal.key !== "document_invalid") return [];
  const lines: string[] = [];
  for (const document of documents)
    for (const mistake of [...listMistakes(document), ...(await typeMistakes(client, document.value))])
      lines.push(formatMistake(document, mistake));
  if (lines.length > 0) return lines;
  const named = documents.find(({ value }) => refusal.message.includes(readName(value)) && readName(value) !== "");
  return named ? [`${named.source}:${named.findLine(["metadata", "name"])}: ${refusal.message}`] : [];
}

/** Returns the mistakes that can be found without a gateway, one line each. */
export function localMistakes(documents: readonly Placed[]): string[] {
  const seen = new Map<string, Placed>();
  return documents.flatMap((document) => {
    const place = `${readKind(document.value)}/${readName(document.value)}`;
    const first = seen.get(place);
    seen.set(place, first ?? document);
    const twice: Mistake[] = first ? [{ path: ["metadata", "name"], text: `is also in ${placeText(first)}` }] : [];
    return [...listMistakes(document), ...twice].map((mistake) => formatMistake(document, mistake));
  });
}

function placeText({ source, findLine: line }: Placed): string {
  return `${source}:${line(["metadata", "name"])}`;
}

/** References that `apply` replaces with secrets are already resolved. */
function listMistakes({ value }: Placed): Mistake[] {
  return [...shapeMistakes(withoutLocal(value)), ...optionMistakes(value)];
}

function withoutLocal(value: unknown): unknown {
  const { spec, ...others } = value as { spec?: unknown };
  if (typeof spec !== "object" || spec === null) return value;
  const local = readKind(value) === "Channel" ? "keyFrom" : readKind(value) === "OptionSet" ? "valueFrom" : "";
  return { ...others, spec: Object.fromEntries(Object.entries(spec).filter(([member]) => member !== local)) };
}

function formatMistake({ source, value, findLine: line }: Placed, { path, text, near }: Mistake): string {
  const kind = readKind(value);
  const title = readName(value) === "" ? "" : `${kind}/${readName(value)}: `;
  return `${source}:${line(path)}: ${title}${text}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function readKind(value: unknown): string {
  const kind = (value as { kind?: unknown }).kind;
  return typeof kind === "string" ? kind : "";
}

function readName(value: unknown): string {
  const name = (value as { metadata?: { name?: unknown } }).metadata?.name;
  return typeof name === "string" ? name : "";
}

function shapeMistakes(value: unknown): Mistake[] {
  const kind = readKind(value);
  if (!KINDS.includes(kind))
    return [{ path: ["kind"], text: `there is no kind ${kind}`, near: nearest(kind, KINDS) ?? KINDS.join(", ") }];
  const parsed = DeclarativeDocument.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => ofIssue(kind, value, issue as Issue));
}

interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function ofIssue(kind: string, value: unknown, issue: Issue): Mistake[] {
  const { code, path, keys = [] } = issue;
  if (code === "unrecognized_keys")
    return keys.map((key) => {
      const known = knownAt(kind, path);
      const where = path.map(String).join(".");
      return { path: [...path, key], text: `${where} has no field ${key}`, near: nearest(key, known) };
    });
  const isAbsent = code === "invalid_type" && valueAt(value, path) === undefined;
  return [{ path, text: `${path.map(String).join(".")} ${isAbsent ? "is required" : wrong(issue)}` }];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const part of path)
    found = typeof found === "object" && found !== null ? (found as Record<PropertyKey, unknown>)[part] : undefined;
  return found;
}

function wrong({ code, message, expected, values, minimum, maximum }: Issue): string {
  if (code === "invalid_type") return `must be ${WORD[expected ?? ""] ?? expected}`;
  if (code === "invalid_value") return `must be ${values?.map(String).join(", ")}`;
  if (code === "too_small") return `must be at least ${minimum}`;
  if (code === "too_big") return `must be at most ${maximum}`;
  if (code === "custom") return `must be ${message}`;
  return "has a form that is not allowed";
}

const WORD: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function knownAt(kind: string, path: readonly PropertyKey[]): readonly string[] {
  const inner = path.slice(1).filter((part) => typeof part === "string");
  const fields = inner.length === 0 ? listKindFields(kind) : (fieldAt(kind, inner)?.fields ?? []);
  return fields.map(({ name }) => name);
}

interface Words {
  readonly type?: unknown;
  readonly values?: unknown;
  readonly json?: unknown;
}

function readSpec(value: unknown): Words {
  return ((value as { spec?: unknown }).spec ?? {}) as Words;
}

/** Finds types that this gateway does not know. */
async function typeMistakes(client: Client, value: unknown): Promise<Mistake[]> {
  const { type } = readSpec(value);
  if (readKind(value) !== "Channel" || typeof type !== "string") return [];
  const { data } = await client.call(channelTypes, {});
  const known = data.map(({ id }) => id);
  if (known.includes(type)) return [];
  return [{ path: ["spec", "type"], text: `there is no channel type ${type}`, near: nearest(type, known) }];
}

function optionMistakes(value: unknown): Mistake[] {
  if (readKind(value) !== "OptionSet") return [];
  const { values, json } = readSpec(value);
  return ["values", "json"].flatMap((member) => {
    const options = Object.keys(((member === "values" ? values : json) ?? {}) as object);
    const unknown = options.filter((one) => !(OPTION_KEYS as readonly string[]).includes(one));
    return unknown.map((one) => ({
      path: ["spec", member, one],
      text: `there is no option ${one}`,
      near: nearest(one, OPTION_KEYS),
    }));
  });
}
