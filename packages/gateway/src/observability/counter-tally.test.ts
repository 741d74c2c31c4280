import { Counter, Registry } from "prom-client";
import { beforeEach, expect, it } from "vitest";
import { CounterTally } from "./counter-tally.ts";

let counter: Counter;
beforeEach(
  () => (counter = new Counter({ name: "n", help: "h", labelNames: ["a", "b", "c"], registers: [new Registry()] })),
);
const read = async () => (await counter.get()).values.map(({ labels, value }) => [labels, value]);

it("a tally passes on the sum of each combination of labels, once", async () => {
  const tally = new CounterTally(counter, ["a", "b", "c"]);
  tally.at(7).at("x").at("y").add(1);
  tally.at(7).at("x").at("y").add(2);
  tally.at(7).at("x").at("").add(5);
  tally.at(8).at("").at("z").add(0);
  expect(await read()).toEqual([]);
  tally.flush();
  tally.flush();
  const expected = [
    [{ a: 7, b: "x", c: "y" }, 3],
    [{ a: 7, b: "x", c: "" }, 5],
    [{ a: 8, b: "", c: "z" }, 0],
  ];
  expect(await read()).toEqual(expected);
  tally.at(7).at("x").at("y").add(1);
  tally.flush();
  expect((await read())[0]).toEqual([{ a: 7, b: "x", c: "y" }, 4]);
});

it("a tally refuses what no counter takes", () => {
  const tally = new CounterTally(counter, ["a", "b", "c"]);
  for (const amount of [-1, Number.NaN]) expect(() => tally.at(1).at("").at("").add(amount)).toThrow(RangeError);
});
