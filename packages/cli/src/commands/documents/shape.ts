import { DeclarativeDocument } from "@fairway/wire";

/** The schema of `spec`, by kind. */
const SPECS: Readonly<Record<string, unknown>> = Object.fromEntries(
  DeclarativeDocument.def.options.flatMap(({ def: { shape } }) =>
    shape.kind.def.values.map((kind): [string, unknown] => [kind, shape.spec]),
  ),
);
export const KINDS: readonly string[] = Object.keys(SPECS);
export { DeclarativeDocument };

interface Definition {
  readonly type: string;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly entries?: Readonly<Record<string, string>>;
}

/** One field of a document, as described by its schema. */
export interface FieldShape {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The fields of an object, or of the objects in a list. */
  readonly fields: readonly FieldShape[];
}

/** Returns the fields of a kind's `spec`. */
export function listKindFields(kind: string): readonly FieldShape[] {
  return fieldsIn(SPECS[kind]);
}

/** Returns the field at a path below `spec`; undefined if there is none. */
export function fieldAt(kind: string, path: readonly string[]): FieldShape | undefined {
  let fields = listKindFields(kind);
  let found: FieldShape | undefined;
  for (const part of path) {
    found = fields.find(({ name }) => name === part);
    if (!found) return undefined;
    ({ fields } = found);
  }
  return found;
}

function readDefinition(schema: unknown): Definition | undefined {
  return (schema as { def?: Definition } | undefined)?.def;
}

function fieldsIn(schema: unknown): readonly FieldShape[] {
  const definition = readDefinition(schema);
  if (!definition) return [];
  const { shape, innerType, element, valueType } = definition;
  if (shape)
    return Object.entries(shape).map(([name, field]) => ({
      name,
      type: describeType(field),
      isRequired: readDefinition(field)?.type !== "optional",
      fields: fieldsIn(field),
    }));
  return fieldsIn(innerType ?? element ?? valueType);
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  int: "number",
  boolean: "true or false",
  object: "object",
  unknown: "any value",
};

function describeType(schema: unknown): string {
  const definition = readDefinition(schema);
  if (!definition) return "any value";
  const { type, innerType, element, valueType, entries } = definition;
  if (type === "optional") return describeType(innerType);
  if (type === "nullable") return `${describeType(innerType)}, or null`;
  if (type === "array") return `list of ${describeType(element)}`;
  if (type === "record") return `map of ${describeType(valueType)}`;
  if (entries) return Object.values(entries).join(", ");
  return TYPES[type] ?? type;
}
