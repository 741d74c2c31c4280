// Builds CustomResourceDefinitions from the schemas of the documents that `fairway apply` accepts, so that both match.
import type * as z from "zod/mini";
import { stringify } from "yaml";
import * as wire from "../../packages/wire/src/index.ts";
import { allProviders } from "../../packages/gateway/src/providers/registry.ts";
import { loadComments } from "./comments.ts";
import { RESOURCES, type Resource, type Rules } from "./crd-rules.ts";

type Json = Record<string, unknown>;

const [GROUP = "", VERSION = ""] = wire.DECLARATIVE_VERSION.split("/");
const comments = loadComments("packages/wire/src");
/** zod limits every integer to JavaScript's safe range; int64 expresses the same. */
const SAFE = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

/** One definition for each kind of document. */
export function customResources(): Json[] {
  return RESOURCES.map(buildDefinition);
}

/** Files of the chart `fairway-crds` by their names. */
export function crdFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RESOURCES.map((resource) => [
      `${resource.plural}.yaml`,
      `# Written by \`npm run docs\` from packages/wire/src/operations/declarative.ts.\n${stringify(buildDefinition(resource), { lineWidth: 0, aliasDuplicateObjects: false })}`,
    ]),
  );
}

/** Returns the definitions that the CLI installs. */
export function crdJson(): string {
  return `${JSON.stringify(customResources(), null, 1)}\n`;
}

function buildDefinition(resource: Resource): Json {
  const { kind, plural, shortName } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${GROUP}`,
      labels: { "app.kubernetes.io/part-of": "fairway" },
      annotations: { "helm.sh/resource-policy": "keep" },
    },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ["fairway"],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [...resource.columns, ...STATUS_COLUMNS],
          schema: { openAPIV3Schema: buildSchema(resource) },
        },
      ],
    },
  };
}

const condition = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`;
const STATUS_COLUMNS = [
  { name: "Ready", type: "string", jsonPath: condition("Ready", "status") },
  { name: "State", type: "string", jsonPath: ".status.state" },
  { name: "ID", type: "integer", jsonPath: ".status.resourceId" },
  { name: "Gateway", type: "string", jsonPath: ".status.gateway", priority: 1 },
  { name: "Message", type: "string", jsonPath: condition("Ready", "message"), priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

const text = { type: "string" };
const STATUS = {
  type: "object",
  description: "Written by the controller of the gateway.",
  properties: {
    observedGeneration: { type: "integer", format: "int64", description: "Generation that the conditions are about." },
    gateway: { type: "string", description: "The gateway that has the resource, where several follow the namespace." },
    resourceId: { type: "integer", format: "int64", description: "Number of the row in the gateway." },
    state: { type: "string", description: "What the gateway does with the resource now, such as Serving or Disabled." },
    conditions: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: {
        type: "object",
        required: ["type", "status", "reason", "message", "lastTransitionTime"],
        properties: {
          type: text,
          status: { type: "string", enum: ["True", "False", "Unknown"] },
          observedGeneration: { type: "integer", format: "int64" },
          lastTransitionTime: { type: "string", format: "date-time" },
          reason: text,
          message: text,
        },
      },
    },
  },
};

const CHANNEL_MEMBERS = new Map<string, string>(
  Object.values<wire.ChannelField>(wire.CHANNEL_FIELDS).flatMap(({ document, about }) =>
    document ? [[document.member, document.about ?? about] as const] : [],
  ),
);

function buildSchema({ kind, spec, about, rules }: Resource): Json {
  const made = structural(wire.jsonSchema(spec as z.ZodMiniType, "input"));
  const properties = made["properties"] as Json;
  for (const [field, property] of Object.entries(properties)) {
    const said = comments.about(`${kind}Spec`, field) || (kind === "Channel" && CHANNEL_MEMBERS.get(field)) || "";
    if (said !== "") properties[field] = { description: said, ...(property as Json) };
  }
  if (kind === "Channel") Object.assign(at(made, "type"), { enum: allProviders.map(({ id }) => id).toSorted() });
  for (const [path, more] of Object.entries(rules)) extend(at(made, path), buildExtensions(more), `${kind} ${path}`);
  return {
    type: "object",
    description: about,
    required: ["spec"],
    "x-kubernetes-validations": [
      { rule: "self.metadata.name.size() <= 190", message: "metadata.name has more than 190 characters: shorten it" },
    ],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: "object" },
      spec: made,
      status: STATUS,
    },
  };
}

/** Adds rules to a schema; throws if they name a limit that the document has already, because the two would diverge. */
function extend(schema: Json, more: Json, path: string): void {
  const twice = Object.keys(more).filter((name) => more[name] !== undefined && name in schema);
  if (twice.length > 0) throw new Error(`${path}: ${twice.join(", ")} is declared by the document already`);
  Object.assign(schema, more);
}

function buildExtensions({ cel = {}, celRules = [], ...more }: Rules): Json {
  const rules = [...Object.entries(cel).map(([rule, message]) => ({ rule, message })), ...celRules];
  return rules.length === 0 ? more : { ...more, "x-kubernetes-validations": rules };
}

/** Returns the schema at a path such as `valuesFrom[]`, `values{}` or `owner.username`; "" is the spec itself. */
function at(schema: Json, path: string): Json {
  let found = schema;
  for (const part of path.split(".").filter((one) => one !== "")) {
    found = (found["properties"] as Json)[part.replace(/\[\]|\{\}/, "")] as Json;
    if (part.endsWith("[]")) found = found["items"] as Json;
    if (part.endsWith("{}")) found = found["additionalProperties"] as Json;
    if (!(found as Json | undefined)) throw new Error(`there is no field ${path}`);
  }
  return found;
}

/** Converts JSON Schema to the form that Kubernetes accepts. */
function structural(schema: Json): Json {
  const { additionalProperties, propertyNames: _names, properties, items, minimum, maximum, ...rest } = schema;
  if (Array.isArray(rest["type"])) {
    const [type, other] = rest["type"] as unknown[];
    if (rest["type"].length !== 2 || other !== "null")
      throw new Error(`no structural form of ${JSON.stringify(schema)}`);
    return structural({ ...schema, type, nullable: true });
  }
  const isAny = rest["type"] === undefined && !properties && !items;
  return {
    ...rest,
    ...(isAny && { "x-kubernetes-preserve-unknown-fields": true }),
    ...describeNumber(rest["type"], { minimum, maximum }),
    ...(isObject(additionalProperties) && { additionalProperties: structural(additionalProperties) }),
    ...(isObject(items) && { items: structural(items) }),
    ...(isObject(properties) && { properties: structuralMembers(properties) }),
  };
}

function structuralMembers(properties: Json): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, structural(inner as Json)]));
}

function describeNumber(type: unknown, bounds: Json): Json {
  if (type === "integer") return { format: "int64", ...pickBounds(bounds) };
  return type === "number" ? pickBounds(bounds) : {};
}

function pickBounds(bounds: Json): Json {
  return Object.fromEntries(
    Object.entries(bounds).filter(([, bound]) => typeof bound === "number" && !SAFE.has(bound)),
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
