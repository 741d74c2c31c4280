import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  isOptionKey,
  isSecretOption,
  type ChannelSpec,
  type DeclarativeDocument,
  type OptionSetSpec,
  type SecretSource,
} from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import { unusable } from "./read-document.ts";
import type { Secret } from "../../lib/secret.ts";

/** The secrets that documents may refer to; they can read nothing else of this machine. */
export interface SecretSources {
  /** Folder of mounted Secrets, with one subfolder for each Secret and one file for each key. */
  readonly secretsDir: string | undefined;
  /** Secrets by the part of their names after `FAIRWAY_SECRET_`. */
  readonly documentSecrets: Readonly<Record<string, Secret>>;
  /** Reads Secrets of a cluster; if set, no file and no variable can be read. */
  readonly cluster?: (ref: { readonly name: string; readonly key: string }) => string | undefined;
}

export interface Resolved {
  readonly document: DeclarativeDocument;
  /** Describes the sources that are missing; "" if all were found. */
  readonly missing: string;
  /**
   * Describes the source of each field that comes from one, if replicas may read different values of it at the same
   * time.
   */
  readonly sources: ReadonlyMap<string, string>;
}

/** Adds the referenced secrets to the document. A missing secret is left out, so that the stored one stays. */
export async function resolveSecrets(document: DeclarativeDocument, sources: SecretSources): Promise<Resolved> {
  const resolved = await resolveSources(document, sources);
  // One leader reads the Secrets of a cluster, from a watch, so an earlier value means that a person went back to it.
  return sources.cluster ? { ...resolved, sources: new Map() } : resolved;
}

async function resolveSources(document: DeclarativeDocument, sources: SecretSources): Promise<Resolved> {
  if (document.kind === "Channel") {
    const { spec, missing } = await withKey(document.metadata.name, document.spec, sources);
    const from = spec.key === undefined ? undefined : spec.credentialsFrom;
    return { document: { ...document, spec }, missing, sources: new Map(from && [["key", describeSource(from)]]) };
  }
  if (document.kind === "OptionSet") {
    const { spec, missing } = await withValues(document.metadata.name, document.spec, sources);
    const found = (document.spec.valuesFrom ?? []).filter(({ option }) => Object.hasOwn(spec.values, option));
    const named = new Map(found.map(({ option, ...from }) => [option, describeSource(from)]));
    return { document: { ...document, spec }, missing, sources: named };
  }
  if (document.kind === "User") return withPassword(document, sources);
  return { document, missing: "", sources: new Map() };
}

type UserDocument = Extract<DeclarativeDocument, { kind: "User" }>;

/** Adds the password. Documents have no member `password`, so it can only come from a source. */
async function withPassword(document: UserDocument, sources: SecretSources): Promise<Resolved> {
  const { passwordFrom: from } = document.spec;
  const password = from && (await read(from, sources))?.replace(/\r?\n$/, "");
  if (from === undefined || password === undefined || password === "")
    return { document, missing: from ? missingText([describeSource(from)]) : "", sources: new Map() };
  return { document: { ...document, spec: withMember(document.spec, password) }, missing: "", sources: new Map() };
}

function withMember(spec: UserDocument["spec"], password: string): UserDocument["spec"] & { password: string } {
  return { ...spec, password };
}

async function withKey(name: string, spec: ChannelSpec, sources: SecretSources) {
  const { credentialsFrom: from } = spec;
  if (!from) return { spec, missing: "" };
  if (spec.key !== undefined) throw unusable(name, "it has both a key and a source of one");
  const text = (await read(from, sources))?.trim();
  if (text === undefined || text === "") return { spec, missing: missingText([describeSource(from)]) };
  if (from.keys !== "Split" && text.includes("\n") && parseObject(text) === undefined) {
    throw unusable(name, `${describeSource(from)} has several lines: keys: Split uses each as a key`);
  }
  return { spec: { ...spec, key: text }, missing: "" };
}

async function withValues(name: string, spec: OptionSetSpec, sources: SecretSources) {
  const values: Record<string, string> = { ...spec.values };
  const missing: string[] = [];
  const shown = (spec.valuesFrom ?? []).find(({ option }) => isOptionKey(option) && !isSecretOption(option));
  // The author of a document need not have the right to read the Secrets that the gateway can read.
  if (shown)
    throw unusable(
      name,
      `spec.valuesFrom: ${shown.option} is shown, so it takes no secret: give its value in spec.values, or name an option that holds a secret, such as SMTPToken`,
    );
  for (const { option, ...from } of spec.valuesFrom ?? []) {
    const text = await read(from, sources);
    if (text === undefined) missing.push(describeSource(from));
    else values[option] = text.replace(/\r?\n$/, "");
  }
  return { spec: { ...spec, values }, missing: missingText(missing) };
}

async function read(
  { secretKeyRef, file, env }: SecretSource,
  { secretsDir, documentSecrets, cluster }: SecretSources,
): Promise<string | undefined> {
  if (cluster) return secretKeyRef && cluster(secretKeyRef);
  if (env !== undefined) return Object.hasOwn(documentSecrets, env) ? documentSecrets[env]?.reveal() : undefined;
  const path = secretKeyRef ? join(secretKeyRef.name, secretKeyRef.key) : file;
  return path === undefined || secretsDir === undefined ? undefined : readText(join(secretsDir, path));
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && ["ENOENT", "ENOTDIR", "EISDIR"].includes(String(cause.code)))
      return undefined;
    throw cause;
  }
}

function describeSource({ secretKeyRef, file, env }: SecretSource): string {
  if (secretKeyRef) return `Secret ${secretKeyRef.name}, key ${secretKeyRef.key}`;
  return env === undefined ? `file ${file ?? ""}` : `variable FAIRWAY_SECRET_${env}`;
}

function missingText(names: readonly string[]): string {
  return names.length === 0 ? "" : `not found: ${names.join("; ")}`;
}
