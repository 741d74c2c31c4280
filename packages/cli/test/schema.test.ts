// The schemas of `fairway schema` match the actual outputs.
import { channelCreate, tokenCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  const body = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: rig.upstream.url, name: "openai" };
  await rig.client.call(channelCreate, { body });
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  await rig.fairway("redemption create --name spring --quota 1usd");
});
afterAll(() => rig?.stop());

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

function readJsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}

/** Returns the paths at which a value does not match the schema. */
function faults(schema: Schema, value: unknown, path = "$"): string[] {
  if (schema.anyOf) return schema.anyOf.some((one) => faults(one, value, path).length === 0) ? [] : [path];
  const kind = readJsonType(value);
  const kinds = [schema.type ?? kind].flat().map((one) => (one === "integer" ? "number" : one));
  if (!kinds.includes(kind)) return [`${path} is ${kind}, not ${kinds.join()}`];
  const { items, properties = {}, required = [] } = schema;
  if (Array.isArray(value)) return items ? value.flatMap((one, at) => faults(items, one, `${path}[${at}]`)) : [];
  if (kind !== "object") return [];
  const members = value as Readonly<Record<string, unknown>>;
  const missing = required.filter((name) => !(name in members)).map((name) => `${path}.${name} is missing`);
  const inner = Object.entries(properties).flatMap(([name, one]) =>
    name in members ? faults(one, members[name], `${path}.${name}`) : [],
  );
  return [...missing, ...inner];
}

const loadSchema = async (name: string) => parseJsonOutput(await rig.fairway(`schema ${name}`)) as Schema;

test.each([
  ["channel list", "ChannelList"],
  ["channel get openai", "Channel"],
  ["channel types", "ChannelTypeList"],
  ["channel keys openai", "ChannelKeyList"],
  ["channel test openai", "ChannelTestList"],
  ["channel enable openai", "ChannelSwitchList"],
  ["token list", "TokenList"],
  ["token get ci", "Token"],
  ["user list", "UserList"],
  ["redemption list", "RedemptionList"],
  ["budget list", "BudgetList"],
  ["report --by model", "ReportList"],
  ["option list", "OptionList"],
  ["option history", "OptionChangeList"],
  ["pricing list", "PriceList"],
  ["model list", "ModelList"],
  ["model map", "TypeModelsList"],
  ["group list", "GroupList"],
  ["log list", "LogList"],
  ["task list", "TaskList"],
  ["drawing list", "DrawingList"],
  ["doctor", "FindingList"],
  ["config view", "SettingList"],
  ["api", "CallList"],
  ["explain Channel", "FieldList"],
  ["schema", "SchemaList"],
  ["version", "Version"],
])("fairway %s prints %s", async (command, name) => {
  const { code, out, err } = await rig.fairway(`${command} -o json`);
  expect([0, 8], err).toContain(code);
  const schema = await loadSchema(name);
  expect(schema).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", title: name });
  expect(faults(schema, JSON.parse(out))).toEqual([]);
});

test("a schema says what is wrong, and every name has one", async () => {
  expect(faults(await loadSchema("Channel"), { id: "3" })).toContain("$.id is string, not number");
  const { out } = await rig.fairway("schema -o name");
  for (const name of out.trim().split("\n"))
    expect((await rig.fairway(`schema ${name.slice("schema/".length)}`)).code).toBe(0);
  expect(parseJsonOutput(await rig.fairway("schema Token"))["properties"]).not.toHaveProperty("key");
});
