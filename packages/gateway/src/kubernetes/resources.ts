import {
  DECLARATIVE_VERSION,
  DeclarativeDocument,
  isOptionKey,
  isSecretOption,
  nearest,
  OPTION_KEYS,
  type OptionSetSpec,
  type ResourceKind,
} from "@fairway/wire";
import { describeIssue } from "../resources/declarative/read-document.ts";
import type { KubeObject } from "./client/api.ts";

const PLURALS: Readonly<Record<ResourceKind, string>> = {
  Channel: "channels",
  OptionSet: "optionsets",
  Token: "tokens",
  Budget: "budgets",
};

export const KINDS = Object.keys(PLURALS) as readonly ResourceKind[];

/** Prevents the removal of a resource until the gateway has deleted what it describes. */
export const FINALIZER = "fairway.dev/cleanup";

export const ANNOTATION = {
  /** Name of the gateway that has the resource, where several follow a namespace. */
  gateway: "fairway.dev/gateway",
  /** `paused` leaves the resource alone. */
  reconcile: "fairway.dev/reconcile",
  /** A change of this annotation triggers a comparison; its value is the time of the request by an operator. */
  reconcileAt: "fairway.dev/reconcile-at",
  /** `true` takes over objects of another manager. */
  adopt: "fairway.dev/force-adopt",
  /** `true` lets a deletion pass the guard against mass deletion. */
  confirm: "fairway.dev/confirm-deletion",
  /** `true` deletes the resource alone: what it described stays, and a new resource of this name takes it over. */
  keep: "fairway.dev/keep",
} as const;

/** Annotation -> the values that it may have; undefined = any. */
const ANNOTATION_VALUES: Readonly<Record<string, readonly string[] | undefined>> = {
  [ANNOTATION.gateway]: undefined,
  [ANNOTATION.reconcile]: ["paused"],
  [ANNOTATION.reconcileAt]: undefined,
  [ANNOTATION.adopt]: ["true", "false"],
  [ANNOTATION.confirm]: ["true", "false"],
  [ANNOTATION.keep]: ["true", "false"],
};
const ANNOTATION_PREFIX = "fairway.dev/";

/** A custom resource of this group. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject;
}

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** Returns the API path of all resources of a kind in a namespace. */
export function listPath(kind: ResourceKind, namespace: string): string {
  return `/apis/${DECLARATIVE_VERSION}/namespaces/${namespace}/${PLURALS[kind]}`;
}

/** Returns the API path of one resource. */
export function buildResourcePath({ kind, namespace, name }: Resource): string {
  return `${listPath(kind, namespace)}/${name}`;
}

/** Returns the API path of the Secrets of a namespace. */
export function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

/** Returns the key of a resource in queues and caches. */
export function buildResourceKey({ kind, namespace, name }: Pick<Resource, "kind" | "namespace" | "name">): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the owner of the objects that the resources of a namespace describe. */
export function buildManagerName(namespace: string): string {
  return `kubernetes:${namespace}`;
}

/** Returns the value of an annotation; undefined without it. */
export function findAnnotation({ object }: Resource, name: string): string | undefined {
  return object.metadata.annotations?.[name];
}

/** Returns the annotations below `fairway.dev/`, also misspelt ones: each has an effect or is refused. */
export function listOwnAnnotations(annotations: Readonly<Record<string, string>> = {}): [string, string][] {
  return Object.entries(annotations).filter(([name]) => name.startsWith(ANNOTATION_PREFIX));
}

/** Returns a number that increases with each change of the spec; 0 if the API server sent none. */
export function getGeneration({ object }: Resource): number {
  return object.metadata.generation ?? 0;
}

/** True from the deletion until the last finalizer is removed. */
export function isDeleting({ object }: Resource): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** True while this gateway holds back the deletion. */
export function hasFinalizer({ object }: Resource): boolean {
  return object.metadata.finalizers?.includes(FINALIZER) === true;
}

export type Read =
  | { readonly document: DeclarativeDocument; readonly reason?: undefined }
  | { readonly document?: undefined; readonly reason: string };

const IN_CLUSTERS = "name a Secret of this namespace with secretKeyRef";

/** Returns the document of a resource, or why it has none. Old API servers skip the rules of the definitions. */
export function parseDocument({ kind, name, object }: Resource): Read {
  const fault = findAnnotationFault(object.metadata.annotations ?? {});
  if (fault !== undefined) return { reason: fault };
  const parsed = DeclarativeDocument.safeParse({
    apiVersion: DECLARATIVE_VERSION,
    kind,
    metadata: { name },
    spec: object.spec,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { reason: issue ? describeIssue(issue) : "spec: is invalid" };
  }
  const document = parsed.data;
  if (document.kind === "Channel" && document.spec.key !== undefined)
    return { reason: `spec.key is not for clusters: ${IN_CLUSTERS}` };
  const outside = listSecretSources(document).find(({ secretKeyRef }) => !secretKeyRef);
  if (outside) return { reason: `files and variables of the gateway are not for clusters: ${IN_CLUSTERS}` };
  const optionFault = document.kind === "OptionSet" ? findOptionFault(document.spec) : undefined;
  return optionFault === undefined ? { document } : { reason: optionFault };
}

/** A secret in a resource is readable by all who may read resources, and is in Git before that. */
function findOptionFault({ values = {}, json = {}, valuesFrom = [] }: OptionSetSpec): string | undefined {
  const written = [...Object.keys(values), ...Object.keys(json)];
  for (const name of [...written, ...valuesFrom.map(({ option }) => option)]) {
    if (isOptionKey(name)) continue;
    const similar = nearest(name, OPTION_KEYS);
    return `there is no option ${name.slice(0, 64)}${similar === undefined ? "" : `: did you mean ${similar}?`}`;
  }
  const secret = written.find((name) => isOptionKey(name) && isSecretOption(name));
  if (secret !== undefined)
    return `${secret} holds a secret, which a resource does not carry: name a Secret in spec.valuesFrom`;
  const both =
    valuesFrom.find(({ option }) => written.includes(option)) ?? Object.keys(json).find((one) => one in values);
  if (both === undefined) return undefined;
  return `${typeof both === "string" ? both : both.option} has two values: leave one of them out`;
}

/** A misspelt annotation would have no effect, which shows only when it is needed. */
function findAnnotationFault(annotations: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of listOwnAnnotations(annotations)) {
    if (!Object.hasOwn(ANNOTATION_VALUES, name))
      return `metadata.annotations: ${name} is unknown; known are ${Object.keys(ANNOTATION_VALUES).join(", ")}`;
    const values = ANNOTATION_VALUES[name];
    if (values && value !== "" && !values.includes(value))
      return `metadata.annotations: ${name} is ${JSON.stringify(value.slice(0, 64))}; it may be ${values.join(" or ")}`;
  }
  return undefined;
}

/** Returns the Secrets that a document refers to. */
export function listSecretRefs(document: DeclarativeDocument): SecretRef[] {
  return listSecretSources(document).flatMap(({ secretKeyRef }) => secretKeyRef ?? []);
}

function listSecretSources({
  kind,
  spec,
}: DeclarativeDocument): readonly { readonly secretKeyRef?: SecretRef | undefined }[] {
  if (kind === "Channel") return spec.credentialsFrom ? [spec.credentialsFrom] : [];
  return kind === "OptionSet" ? (spec.valuesFrom ?? []) : [];
}
