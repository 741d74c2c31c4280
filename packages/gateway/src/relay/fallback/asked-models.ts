import { exactJson, isModelName } from "../../dialects/core/request-spec.ts";
import { isSet } from "../../dialects/core/read.ts";
import type { Body, DialectId, JsonObject } from "../../dialects/core/types.ts";
import { invalidRequest, unsupportedParameter } from "../../lib/app-error.ts";
import { isObject } from "../../lib/text/json.ts";
import { jsonBody } from "../body/read-body.ts";

/** Members by which clients name further models: `models` as routers of models read it, `fallbacks` as proxies do. */
const MEMBERS: Readonly<Partial<Record<DialectId, readonly ("models" | "fallbacks")[]>>> = {
  "openai-chat": ["models", "fallbacks"],
  "openai-responses": ["models"],
};

/** Most models that a client may name after the first one. */
export const MAX_ASKED = 3;
const MAX_NAME = 200;

/** A body without its list of models, and the models after the first one. */
export interface AskedModels {
  readonly body: Body;
  readonly models: readonly string[];
}

/**
 * Takes the client's list of models out of its body, because no upstream may read it: it would serve another model than
 * the one that is priced. Undefined if there is none; `isAllowed` false ignores the list.
 */
export function takeAskedModels(body: Body, dialect: DialectId, isAllowed: () => boolean): AskedModels | undefined {
  const present = MEMBERS[dialect]?.filter((member) => isSet(body.json()[member]));
  if (!present || present.length === 0) return undefined;
  const rest: Record<string, JsonObject[string]> = { ...exactJson(body) };
  const asked = { models: rest["models"], fallbacks: rest["fallbacks"], model: rest["model"] };
  for (const member of present) delete rest[member];
  if (!isAllowed()) return { body: encode(rest), models: [] };
  if (present.length > 1) throw invalidRequest("fallbacks", "Send either models or fallbacks, not both.");
  if (present[0] === "fallbacks") return { body: encode(rest), models: limited(readFallbacks(asked.fallbacks), rest) };
  const models = readNames(asked.models, "models");
  if (!isSet(asked.model)) rest["model"] = models[0] as string;
  return { body: encode(rest), models: limited(models, rest, "models") };
}

function encode(json: JsonObject): Body {
  return jsonBody(Buffer.from(JSON.stringify(json)));
}

/** Returns the names after the first model, each once. */
function limited(names: readonly string[], { model }: JsonObject, param = "fallbacks"): readonly string[] {
  const further = [...new Set(names)].filter((name) => name !== model);
  if (further.length > MAX_ASKED)
    throw invalidRequest(param, `${param} names more than ${MAX_ASKED} models after the first one; name fewer.`);
  return further;
}

function readNames(value: unknown, param: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalidRequest(param, `${param} must be a list of model names.`);
  const names = value as readonly unknown[];
  return names.map((name, at) => {
    checkName(name, `${param}[${at}]`);
    return name;
  });
}

function readFallbacks(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidRequest("fallbacks", "fallbacks must be a list of model names.");
  const items = value as readonly unknown[];
  return readNames(
    items.map((item, at) => (isObject(item) ? readModel(item, `fallbacks[${at}]`) : item)),
    "fallbacks",
  );
}

/** Other members would replace the client's own, such as messages, after they were checked. */
function readModel(item: JsonObject, path: string): unknown {
  const further = Object.keys(item).find((name) => name !== "model");
  if (further !== undefined) throw unsupportedParameter(`${path}.${further}`, "Name only the model.");
  return item["model"];
}

export function checkName(name: unknown, param: string): asserts name is string {
  if (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME || !isModelName(name))
    throw invalidRequest(param, `${param} must be the name of a model.`);
}
