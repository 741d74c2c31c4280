import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";
import type { Placed } from "./files.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Members = Readonly<Record<string, unknown>>;

/**
 * Replaces references to local secrets with the secrets: `keyFrom: {env: NAME}` or `{file: path}` of a channel, and
 * `valueFrom: {Option: {env: NAME}}` of an option set. A relative path begins at the folder of the document.
 */
export function withLocalSecrets(document: Placed, env: Environment): unknown {
  const value = document.value as Members;
  const spec = value["spec"];
  if (!isObject(spec)) return value;
  const { keyFrom, valueFrom, ...others } = spec;
  if (value["kind"] === "Channel" && keyFrom !== undefined)
    return { ...value, spec: { ...others, key: resolveSecret(document, ["spec", "keyFrom"], keyFrom, env) } };
  if (value["kind"] !== "OptionSet" || !isObject(valueFrom)) return value;
  const found = Object.entries(valueFrom).map(([option, source]) => [
    option,
    resolveSecret(document, ["spec", "valueFrom", option], source, env),
  ]);
  const values = isObject(others["values"]) ? others["values"] : {};
  return { ...value, spec: { ...others, values: { ...values, ...(Object.fromEntries(found) as Members) } } };
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function resolveSecret(
  { source: file, findLine }: Placed,
  path: readonly string[],
  source: unknown,
  env: Environment,
): string {
  const fail = (reason: string, hint: string) => {
    throw new CliError(`${file}:${findLine(path)}: ${path.join(".")} ${reason}`, EXIT.usage, hint);
  };
  const [[how, name] = [], ...more] = isObject(source) ? Object.entries(source) : [];
  if (typeof name !== "string" || more.length > 0 || (how !== "env" && how !== "file"))
    return fail("names no secret", "write {env: NAME} or {file: path}");
  const text = how === "env" ? env[name] : readSecret(name, file, fail);
  if (text === undefined || text === "")
    return fail(`names ${name}, which is ${how === "env" ? "not set" : "empty"}`, `set it where this command runs`);
  return text;
}

function readSecret(name: string, file: string, fail: (reason: string, hint: string) => never): string {
  try {
    return readFileSync(resolve(file === "standard input" ? "." : dirname(file), name), "utf8").trim();
  } catch (cause) {
    return fail(`names ${name}, which cannot be read (${readErrorCode(cause)})`, "name a file of text");
  }
}
