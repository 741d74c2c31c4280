import type { ChannelType, OptionPrice } from "@fairway/wire";
import { expect, test } from "vitest";
import { channelInput, toDollars, preselected, findTypeByKey, withPrices } from "./provider.ts";

const type = (id: number, key_hint: string, retired = false): ChannelType => ({
  type: id,
  id: String(id),
  label: `Type ${id}`,
  base_url: "",
  key_hint,
  needs_base_url: false,
  other_hint: "",
  other_default: "",
  retired,
  can_test: true,
  can_balance: false,
  has_key_file: false,
  takes_cache_marks: false,
  takes_batches: false,
  can_list_models: true,
});

const TYPES = [type(1, "sk-..."), type(14, "sk-ant-..."), type(20, "sk-or-v1-..."), type(24, "AIza..."), type(3, "")];

const price = (model: string, isPriced: boolean): OptionPrice => ({
  model,
  price: isPriced
    ? {
        by: "tokens",
        model_ratio: 1.25,
        completion_ratio: 4,
        cache_ratio: 1,
        model_price: 0,
        unit: "token",
        source: "",
        date: "",
      }
    : null,
  built_in: null,
  is_served: false,
});

test("a key is recognised by the longest start that fits", () => {
  expect(findTypeByKey("sk-ant-api03-x", TYPES)?.type).toBe(14);
  expect(findTypeByKey("  sk-proj-x", TYPES)?.type).toBe(1);
  expect(findTypeByKey("AIzaSyX", TYPES)?.type).toBe(24);
  expect(findTypeByKey("abc", TYPES)).toBeUndefined();
  expect(findTypeByKey("", TYPES)).toBeUndefined();
  expect(findTypeByKey("sk-old", [type(9, "sk-...", true)]), "retired types are not offered").toBeUndefined();
});

test("models without a price come last and are not chosen", () => {
  const models = withPrices(["new", "gpt-4o"], [price("gpt-4o", true), price("new", false)]);
  expect(models.map(({ name }) => name)).toEqual(["gpt-4o", "new"]);
  expect([...preselected(models)]).toEqual(["gpt-4o"]);
});

test("all models are chosen when none has a price, or when prices are not visible", () => {
  expect([...preselected(withPrices(["a", "b"], []))]).toEqual(["a", "b"]);
  expect([...preselected(withPrices(["a", "b"], undefined))]).toEqual(["a", "b"]);
});

test("prices read as dollars", () => {
  const [row] = withPrices(["gpt-4o"], [price("gpt-4o", true)]);
  expect(row?.price && toDollars(row.price)).toEqual({ input: 2.5, output: 10 });
});

test("the channel has the chosen models and an address without a slash at its end", () => {
  const draft = { type: "1", key: " sk-1 ", base_url: "http://host/v1/ " };
  expect(channelInput(draft, "OpenAI", ["a", "b"])).toMatchObject({
    type: 1,
    name: "OpenAI",
    key: "sk-1",
    base_url: "http://host/v1",
    models: "a,b",
  });
});
