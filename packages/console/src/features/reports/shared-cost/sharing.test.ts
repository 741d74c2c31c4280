import { expect, test } from "vitest";
import { DEFAULTS } from "../api.ts";
import { EVERYONE, SELF } from "../reader.ts";
import {
  askSharing,
  chooseSplit,
  listTagKeys,
  listValues,
  readSharing,
  setWeight,
  toggleValue,
  writeSharing,
  type Sharing,
} from "./sharing.ts";

const QUESTION = { ...DEFAULTS, by: "tag:app,model" };
const read = (shared: string, split = "") => readSharing({ ...QUESTION, shared, split }, SELF);
const start = (): Sharing => read("app") as Sharing;

test("tags among the fields can be shared, and nothing else", () => {
  expect(listTagKeys({ by: "tag:app,user,tag:" }, EVERYONE)).toEqual(["app"]);
  expect(read("")).toBeUndefined();
  expect(read("env=prod")).toBeUndefined();
  expect(read("model=gpt")).toBeUndefined();
  expect(readSharing({ ...DEFAULTS, shared: "app=platform" }, SELF)).toBeUndefined();
});

test("what is shared comes back from the address as it was chosen", () => {
  const both = toggleValue(toggleValue(start(), "platform"), "~none");
  expect(writeSharing(both)).toEqual({ shared: "app=platform|app=~none", split: "" });
  const even = chooseSplit(both, "even", ["shop", "platform"]);
  expect(writeSharing(even)).toEqual({ shared: "app=platform|app=~none", split: "even" });
  const weighed = setWeight(chooseSplit(even, "weights", ["shop", "crm", "platform", "~none"]), "shop", "02");
  const written = writeSharing(weighed);
  expect(written.split).toBe("shop=2|crm=1");
  for (const sharing of [both, even, weighed]) {
    const { shared, split } = writeSharing(sharing);
    expect(read(shared, split)).toEqual(sharing);
  }
  expect(read("app=platform", "proportional")?.split).toBe("proportional");
});

test("a value is shared or bears a weight, never both", () => {
  const weighed = chooseSplit(start(), "weights", ["shop", "crm"]);
  const shared = toggleValue(weighed, "crm");
  expect(writeSharing(shared)).toEqual({ shared: "app=crm", split: "shop=1" });
  expect(writeSharing(toggleValue(shared, "crm"))).toEqual({ shared: "app", split: "shop=1|crm=1" });
  expect(writeSharing(setWeight(shared, "shop", ""))).toEqual({ shared: "app=crm", split: "shop=0" });
});

test("the gateway is asked for nothing before a value is chosen, or when its tag is no field any more", () => {
  const sharing = { shared: "app=platform", split: "even" };
  expect(askSharing({ ...QUESTION, shared: "app", split: "even" }, SELF)).toEqual({});
  expect(askSharing({ ...QUESTION, ...sharing }, SELF)).toEqual(sharing);
  expect(askSharing({ ...QUESTION, ...sharing, split: "" }, SELF)).toEqual({ shared: "app=platform" });
  expect(askSharing({ ...QUESTION, ...sharing, by: "model" }, SELF)).toEqual({});
});

test("values are offered by what they cost, calls without the tag among them", () => {
  const figures = { calls: 1, errors: 0, input_tokens: 0, output_tokens: 0, cost_usd: "0.000000" };
  const row = (app: string, quota: number) => ({ start: 1, "tag:app": app, ...figures, quota });
  const rows = [row("shop", 5), row("", 9), row("crm", 3), row("shop", 8)];
  expect(listValues({ columns: ["start", "tag:app"], rows }, "app")).toEqual(["shop", "~none", "crm"]);
  expect(listValues({ columns: ["start", "tag:app"], rows }, "env")).toEqual([]);
});
