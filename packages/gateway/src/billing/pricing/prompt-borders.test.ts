import { promptBordersType } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../dialects/core/types.ts";
import { createPriceBook, type PriceOptions } from "./price-book.ts";
import { charge } from "./price.ts";

/** Returns the quota of a partly cached prompt and its answer. */
function cost(model: string, options: PriceOptions, [input, output, cachedInput]: readonly [number, number, number]) {
  const price = createPriceBook(options).find(model);
  if (!price) throw new Error(`${model} has no price`);
  return charge({ ...NO_USAGE, input, output, cachedInput }, price, { groupRatio: "1", spec: { model } });
}

const own = { ModelRatio: { mine: 1 }, CompletionRatio: { mine: 4 }, CacheRatio: { mine: 0.5 } };
const bordered = (text: string) => {
  const read = promptBordersType.read(text);
  if (!read.isValid) throw new Error(read.rule ?? read.messageKey);
  return { ...own, PromptBorders: read.value };
};

describe("borders that an operator sets", () => {
  // @weakness Money: Prompts above a border cost the vendor's higher rate, and the operator charges the lower one
  it("charge a longer prompt by other rates as a whole, and a shorter one as before", () => {
    const options = bordered('{"mine":[{"above":1000,"input":2,"output":1.5},{"above":5000,"input":3,"cached":1}]}');
    expect(cost("mine", options, [1_000, 100, 0])).toBe(1_000 + 400);
    expect(cost("mine", options, [1_001, 100, 0])).toBe(2_002 + 600);
    expect(cost("mine", options, [2_000, 100, 500])).toBe(3_000 + 500 + 600);
    expect(cost("mine", options, [6_000, 100, 2_000])).toBe(12_000 + 1_000 + 1_200);
  });

  it("replace those of the price list, also by none", () => {
    const listed = cost("gemini-2.5-pro", {}, [300_000, 100, 0]);
    expect(cost("gemini-2.5-pro", bordered('{"gemini-2.5-pro":[]}'), [300_000, 100, 0])).toBeLessThan(listed);
    const dear = cost("gemini-2.5-pro", bordered('{"gemini-2.5-pro":[{"above":1000,"input":4}]}'), [300_000, 100, 0]);
    expect(dear).toBeGreaterThan(listed);
  });

  it("hold for a name that channels map to the model, unless it has borders of its own", () => {
    const mapped = new Map([
      ["alias", [["alias", "mine"]]],
      ["other", [["other", "mine"]]],
    ]);
    const options = bordered('{"mine":[{"above":1000,"input":2}],"other":[]}');
    const findPrice = (name: string) => createPriceBook(options, mapped).find(name);
    expect(findPrice("alias")).toMatchObject({ pricedAs: "mine", tiers: [{ above: 1_000, modelRatio: 2 }] });
    expect(findPrice("other")).toMatchObject({ pricedAs: "mine", tiers: [] });
  });

  it("are shown with the prices", () => {
    const row = createPriceBook(bordered('{"mine":[{"above":1000,"input":2,"output":1}]}')).row("mine");
    expect(row.borders).toEqual([{ above: 1_000, model_ratio: 2, completion_ratio: 2 }]);
    expect(createPriceBook(own).row("mine").borders).toBeUndefined();
  });

  it.each([
    ["[]", "option_json_invalid"],
    ['{"m":{}}', "not a list"],
    ['{"m":[{"above":0,"input":1}]}', "above is not from 1"],
    ['{"m":[{"above":10.5,"input":1}]}', "above is not from 1"],
    ['{"m":[{"above":10}]}', "input is missing"],
    ['{"m":[{"above":10,"input":-1}]}', "input is not from 0"],
    ['{"m":[{"above":10,"input":1,"ouput":2}]}', "ouput is unknown"],
    ['{"m":[{"above":10,"input":1},{"above":10,"input":2}]}', "10 is there twice"],
  ])("refuse %s", (text, why) => {
    const read = promptBordersType.read(text);
    expect(read).toMatchObject({ isValid: false });
    expect(JSON.stringify(read)).toContain(why);
  });
});
