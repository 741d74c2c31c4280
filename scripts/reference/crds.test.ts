import { DeclarativeDocument, DECLARATIVE_VERSION } from "../../packages/wire/src/index.ts";
import { describe, expect, test } from "vitest";
import { crdFiles, customResources } from "./crds.ts";

interface Schema {
  readonly type?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly anyOf?: unknown;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const definitions = customResources() as unknown as Definition[];
const readSchema = ({ spec }: Definition) => spec.versions[0]?.schema.openAPIV3Schema ?? {};

function walk(schema: Schema, path: string, visit: (schema: Schema, path: string) => void): void {
  visit(schema, path);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) walk(inner, `${path}.${name}`, visit);
  if (schema.items) walk(schema.items, `${path}[]`, visit);
  if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties as Schema, `${path}.*`, visit);
}

describe("custom resources", () => {
  test("exist for every kind of document but users, whom no namespace may make", () => {
    const kinds = DeclarativeDocument.def.options.flatMap((option): string[] => option.def.shape.kind.def.values);
    expect(definitions.map(({ spec }) => spec.names.kind).toSorted()).toEqual(
      kinds.filter((kind) => kind !== "User").toSorted(),
    );
  });

  test.each(definitions.map((definition) => [definition.metadata.name, definition] as const))(
    "%s has every field of its document and nothing that Kubernetes refuses",
    (_name, definition) => {
      const { kind } = definition.spec.names;
      const option = DeclarativeDocument.def.options.find((one) => one.def.shape.kind.def.values[0] === kind);
      const spec = readSchema(definition).properties?.["spec"];
      expect(Object.keys(spec?.properties ?? {})).toEqual(Object.keys(option?.def.shape.spec.def.shape ?? {}));
      walk(readSchema(definition), "", (schema, path) => {
        const isAny = schema["x-kubernetes-preserve-unknown-fields"] === true;
        expect(typeof schema.type === "string" || isAny, path).toBe(true);
        expect(schema.anyOf, path).toBeUndefined();
        expect(schema.additionalProperties, path).not.toBe(false);
        // Regular expressions of Go have no look-ahead.
        expect(schema.pattern ?? "", path).not.toContain("(?");
      });
    },
  );

  test("belong to the group of the documents, one file each", () => {
    const [group = ""] = DECLARATIVE_VERSION.split("/");
    for (const { metadata, spec } of definitions) {
      expect(metadata.name).toBe(`${spec.names.plural}.${group}`);
      expect(crdFiles()[`${spec.names.plural}.yaml`]).toContain(`name: ${metadata.name}\n`);
    }
  });
});
