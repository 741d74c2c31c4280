import { describe, expect, test } from "vitest";
import { channelRecord, createChannelReader, type ChannelRow } from "./channel-record.ts";

const row = (change: Partial<ChannelRow> = {}): ChannelRow => ({
  id: 1,
  type: 1,
  key_sealed: "sk-one",
  openai_organization: "",
  test_model: "",
  status: 1,
  name: "first",
  weight: 0,
  base_url: "",
  other: "",
  models: "gpt-4o",
  group: "default",
  model_mapping: "",
  status_code_mapping: "",
  max_input_tokens: 0,
  priority: 0,
  auto_ban: 1,
  tag: null,
  setting: null,
  param_override: null,
  header_override: null,
  channel_info: null,
  ...change,
});
const record = (change: Partial<ChannelRow>) => channelRecord(row(change), (sealed) => sealed);

describe("keys", () => {
  test.each([
    ["sk-one", ["sk-one"]],
    [" sk-one \r\n\n sk-two\n", ["sk-one", "sk-two"]],
    ["", [""]],
    [
      '{\n "type": "service_account",\n "private_key": "a"\n}',
      ['{\n "type": "service_account",\n "private_key": "a"\n}'],
    ],
  ])("%j is %j", (text, keys) => {
    expect(record({ key_sealed: text }).keys).toEqual(keys);
  });

  test("that are switched off are not usable", () => {
    const usable = (states: object, key_sealed = "a\nb\nc") =>
      record({ key_sealed, channel_info: JSON.stringify({ multi_key_status_list: states }) }).usableKeys;
    expect(usable({ "1": 3 })).toEqual([0, 2]);
    expect(usable({ "0": 2, "1": 3, "2": 3 })).toEqual([]);
    expect(usable({ "1": 1, "9": 3, x: 3, "-1": 2 })).toBeUndefined();
    expect(record({ key_sealed: "a\nb", channel_info: "nonsense" }).usableKeys).toBeUndefined();
  });

  test("of Vertex are never split", () => {
    expect(record({ key_sealed: "not\njson", type: 41 }).keys).toEqual(["not\njson"]);
  });

  test("are drawn at random unless the setting says otherwise", () => {
    expect(record({}).keyMode).toBe("random");
    expect(record({ setting: '{"multi_key_mode":"polling"}' }).keyMode).toBe("polling");
  });
});

describe("lists and mappings", () => {
  test("lose blanks and repetitions", () => {
    const { models, groups, baseUrl } = record({
      models: " a,b,,a ",
      group: "default, vip",
      base_url: "https://up.example/ ",
    });
    expect([...models]).toEqual(["a", "b"]);
    expect(groups).toEqual(["default", "vip"]);
    expect(baseUrl).toBe("https://up.example");
  });

  test("know the plans of a vendor by name, and of no other", () => {
    expect(record({ type: 26, base_url: "glm-coding-plan" }).baseUrl).toBe(
      "https://open.bigmodel.cn/api/coding/paas/v4",
    );
    expect(record({ type: 25, base_url: "kimi-coding-plan" }).baseUrl).toBe("https://api.kimi.com/coding/v1");
    expect(record({ type: 1, base_url: "glm-coding-plan" }).baseUrl).toBe("glm-coding-plan");
    expect(record({ type: 26, base_url: "toString" }).baseUrl).toBe("toString");
  });

  test.each(["", "{}", "null", " "])("the mapping %j is none", (text) => {
    expect(record({ model_mapping: text }).modelMapping.size).toBe(0);
  });

  test("names of prototypes are names like others", () => {
    const { modelMapping } = record({ model_mapping: '{"__proto__":"a","constructor":"b"}' });
    expect([...modelMapping]).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
    expect(modelMapping.get("toString")).toBeUndefined();
  });

  test("statuses may be numbers or digits; what is no failure is left out", () => {
    const { statusMapping } = record({
      status_code_mapping: '{"429":"503","401":500,"404":200,"x":500,"402":"soon","403":600}',
    });
    expect([...statusMapping]).toEqual([
      [401, 500],
      [429, 503],
    ]);
  });

  test.each([
    ["model_mapping", "{", "model_mapping is not a JSON object"],
    ["model_mapping", '{"a":1}', "model_mapping names something that is not text"],
    ["status_code_mapping", "[]", "status_code_mapping is not a JSON object"],
    ["setting", "no", "setting is not a JSON object"],
    ["param_override", "1", "param_override is not a JSON object"],
  ])("a broken %s (%s) is refused by name", (field, text, message) => {
    expect(() => record({ [field]: text })).toThrow(message);
  });
});

test("a negative weight is none, and the record cannot be changed", () => {
  const frozen = record({ weight: -3, tag: "eu", param_override: '{"temperature":0}' });
  expect(frozen).toMatchObject({ weight: 0, tag: "eu", autoBan: true, paramOverride: { temperature: 0 } });
  expect(Object.isFrozen(frozen)).toBe(true);
});

test("a row that did not change gives the same record, and a changed one another", () => {
  const opened: string[] = [];
  const unreadable: number[] = [];
  const reader = createChannelReader((sealed) => {
    opened.push(sealed);
    return sealed;
  });
  const read = (...rows: ChannelRow[]) => reader(rows, ({ id }) => unreadable.push(id));
  const [first] = read(row(), row({ id: 2, setting: "no" }));
  expect(unreadable).toEqual([2]);
  expect(read(row())).toEqual([first]);
  expect(read(row())[0]).toBe(first);
  expect(read(row({ key_sealed: "sk-two" }))[0]?.keys).toEqual(["sk-two"]);
  expect(read()).toEqual([]);
  expect(read(row())[0]).not.toBe(first);
  expect(opened).toEqual(["sk-one", "sk-two", "sk-one"]);
});
