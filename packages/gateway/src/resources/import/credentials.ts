import { isObject, type JsonObject } from "../../lib/text/json.ts";

const NAME = "litellm_credential_name";

/** Adds the values of the credential that a model refers to to its parameters. */
export function createCredentials(config: JsonObject, notes: string[]) {
  const known = new Map<string, JsonObject>();
  const list = config["credential_list"];
  for (const one of Array.isArray(list) ? list : []) {
    const [name, values] = isObject(one) ? [one["credential_name"], one["credential_values"]] : [];
    if (typeof name === "string" && isObject(values)) known.set(name, values);
    else notes.push("an entry of credential_list without a name or values is left out");
  }
  return (model: string, params: JsonObject): JsonObject => {
    const { [NAME]: name, ...own } = params;
    if (typeof name !== "string") return own;
    const values = known.get(name);
    if (!values) notes.push(`${model}: credential_list has no ${name}, so its channel has none of its values`);
    return { ...values, ...own };
  };
}
