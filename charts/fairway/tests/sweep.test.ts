// Every value of the chart, made wrong: the refusal names its path and what is allowed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, template } from "./helm.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

interface Place {
  readonly path: readonly string[];
  readonly schema: Schema;
}

const ROOT = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as Schema;
/** Values that are passed to Kubernetes unchanged, which validates their fields. */
const ANYTHING = new Set(["global"]);

const helm = findHelm();

function resolved(schema: Schema): Schema {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  const names = reference.replace("#/", "").split("/");
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], ROOT) as Schema;
}

function* places(schema: Schema, path: readonly string[] = []): Generator<Place> {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const [own, inner] = [[...path, name], resolved(child)];
    if (ANYTHING.has(own.join("."))) continue;
    yield { path: own, schema: inner };
    yield* places(inner, own);
  }
}

/** Objects whose members the chart does not know, by the end of their path. */
const OPEN: Readonly<Record<string, string>> = {
  global: "other charts of the same parent read it too",
  "items.spec": "fields of documents, which the gateway checks",
  extraObjects: "objects of any kind",
};

/** Yields each object of the schema that takes any member, in lists and definitions too. */
function* openObjects(schema: Schema, path: readonly string[] = []): Generator<string> {
  const types = [schema.type ?? []].flat();
  if (types.includes("object") && schema.additionalProperties === undefined) yield path.join(".");
  const inner = { ...schema.properties, ...(schema["$defs"] as Schema["properties"]) };
  for (const [name, child] of Object.entries(inner)) yield* openObjects(child, [...path, name]);
  if (schema.items) yield* openObjects(schema.items, path);
}

const ALL = [...places(ROOT)];
const LEAVES = ALL.filter(({ schema }) => schema.properties === undefined);

/** Returns a value of a type that the schema does not allow; undefined if it allows every type. */
function buildWrongValue(schema: Schema): unknown {
  if (schema.enum || schema["const"] !== undefined) return "no-such-value";
  const options = [schema, ...((schema["anyOf"] ?? schema["oneOf"] ?? []) as Schema[]).map(resolved)];
  const types = new Set(options.flatMap(({ type = [], enum: words }) => (words ? ["string"] : type)));
  if (types.size === 0) return undefined;
  if (!types.has("object")) return { wrong: true };
  return types.has("boolean") ? undefined : true;
}

function nested(pairs: readonly (readonly [readonly string[], unknown])[]): string {
  const values: Record<string, unknown> = {};
  for (const [path, value] of pairs) {
    let at = values;
    for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[path.at(-1) ?? ""] = value;
  }
  return JSON.stringify(values);
}

const pointer = (path: readonly string[]) => `at '/${path.join("/")}'`;

async function refusals(pairs: readonly (readonly [readonly string[], unknown])[]): Promise<string> {
  const { code, output } = await template(helm, "mysql", [nested(pairs)]);
  expect(code).not.toBe(0);
  return output;
}

describe("every value of the chart", () => {
  it("has a type", () => {
    expect(
      LEAVES.filter(({ schema }) => buildWrongValue(schema) === undefined).map(({ path }) => path.join(".")),
    ).toEqual([]);
  });

  it("is refused with its place when its type is wrong", async () => {
    const wrong = LEAVES.map(({ path, schema }) => [path, buildWrongValue(schema)] as const);
    const output = await refusals(wrong);
    expect(wrong.map(([path]) => path).filter((path) => !output.includes(pointer(path)))).toEqual([]);
  });

  it("is refused with its place when it is out of its bounds", async () => {
    const wrong = LEAVES.flatMap(({ path, schema: { minimum, maximum } }) => [
      ...(minimum === undefined ? [] : [[path, minimum - 1, "minimum"] as const]),
      ...(maximum === undefined ? [] : [[path, maximum + 1, "maximum"] as const]),
    ]);
    for (const bound of ["minimum", "maximum"] as const) {
      const own = wrong.filter(([, , which]) => which === bound).map(([path, value]) => [path, value] as const);
      const output = await refusals(own);
      const named = own.filter(([path]) => !new RegExp(`at '/${path.join("/")}': .*${bound}`).test(output));
      expect(named.map(([path]) => path)).toEqual([]);
    }
  });

  it("has members that are known, at any depth", () => {
    const isExplained = (path: string) => Object.keys(OPEN).some((end) => `.${path}`.endsWith(`.${end}`));
    expect([...openObjects(ROOT)].filter((path) => !isExplained(path))).toEqual([]);
  });

  it("has no neighbour that is spelled wrong without a word", async () => {
    const closed = ALL.filter(({ schema }) => schema.additionalProperties === false);
    const output = await refusals([
      [["noSuchValue"], 1],
      ...closed.map(({ path }) => [[...path, "noSuchValue"], 1] as const),
    ]);
    const silent = [[], ...closed.map(({ path }) => path)].filter(
      (path) =>
        !output.includes(
          `at '${path.length === 0 ? "" : `/${path.join("/")}`}': additional properties 'noSuchValue' not allowed`,
        ),
    );
    expect(silent).toEqual([]);
  });
});
