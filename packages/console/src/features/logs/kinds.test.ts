import { LOG_TYPE } from "@fairway/wire";
import { expect, test } from "vitest";
import { isConsumption } from "./kinds.ts";

test("rows of type 0 count as calls, as in compatible consoles (C-316)", () => {
  const { unknown, consume, topup, manage, system, error } = LOG_TYPE;
  const types = [unknown, consume, topup, manage, system, error];
  expect(types.filter((type) => isConsumption({ type }))).toEqual([unknown, consume]);
});
