import { TOKEN_STATUS, type Token } from "@fairway/wire";
import { expect, test } from "vitest";
import { toLocalInput } from "../../../lib/format.ts";
import { checkDraft, NO_CHANGE, buildPlan } from "./plan.ts";

const token = (values: Partial<Token>): Token =>
  ({
    id: 1,
    status: 1,
    group: "",
    model_limits_enabled: false,
    model_limits: "",
    expired_time: -1,
    ...values,
  }) as Token;

test("plans only what differs, and remembers what takes it back", () => {
  const rows = [token({ group: "vip" }), token({ id: 2, expired_time: 900 })];
  const plan = buildPlan({ ...NO_CHANGE, groupMode: "set", group: "vip", expiryMode: "never" }, rows);
  expect(plan.map(({ row: { id }, patch, undo }) => [id, patch, undo])).toEqual([
    [2, { group: "vip", expired_time: -1 }, { group: "", expired_time: 900 }],
  ]);
  expect(buildPlan(NO_CHANGE, rows)).toEqual([]);
});

test("sets, adds and removes models; a token without a list is limited by setting one only", () => {
  const rows = [token({ model_limits_enabled: true, model_limits: "a,b" }), token({ id: 2 })];
  const plan = (modelMode: "set" | "add" | "remove" | "all", models: string[]) =>
    buildPlan({ ...NO_CHANGE, modelMode, models }, rows).map(({ row: { id }, patch }) => [id, patch]);
  expect(plan("set", ["c"])).toEqual([
    [1, { model_limits: "c" }],
    [2, { model_limits_enabled: true, model_limits: "c" }],
  ]);
  expect(plan("add", ["b", "c"])).toEqual([[1, { model_limits: "a,b,c" }]]);
  expect(plan("remove", ["a"])).toEqual([[1, { model_limits: "b" }]]);
  expect(plan("all", [])).toEqual([[1, { model_limits_enabled: false }]]);
});

test("an expired token can be enabled, and has nothing to disable", () => {
  const rows = [token({ status: TOKEN_STATUS.expired, expired_time: 5 }), token({ id: 2 })];
  expect(buildPlan({ ...NO_CHANGE, status: "on" }, rows)).toMatchObject([
    { row: { id: 1 }, patch: { status: TOKEN_STATUS.enabled }, undo: { status: TOKEN_STATUS.expired } },
  ]);
  expect(buildPlan({ ...NO_CHANGE, status: "off" }, rows)).toMatchObject([{ row: { id: 2 } }]);
});

test("what an administrator disabled is not enabled with others", () => {
  const off = { status: TOKEN_STATUS.disabled };
  const rows = [token({ ...off, disabled_by_admin: true }), token({ ...off, id: 2 })];
  expect(buildPlan({ ...NO_CHANGE, status: "on" }, rows)).toMatchObject([{ row: { id: 2 } }]);
});

test("refuses a list without models, and times that are none or have passed", () => {
  const now = 1_800_000_000;
  const at = (seconds: number) => checkDraft({ ...NO_CHANGE, expiryMode: "at", expires: toLocalInput(seconds) }, now);
  expect(checkDraft({ ...NO_CHANGE, modelMode: "remove" }, now)).toEqual({ models: "modelsMissing" });
  expect(checkDraft({ ...NO_CHANGE, modelMode: "all" }, now)).toEqual({});
  expect(checkDraft({ ...NO_CHANGE, expiryMode: "at" }, now)).toEqual({ expires: "badExpiryCreate" });
  expect(at(now - 120)).toEqual({ expires: "pastExpiry" });
  expect(at(now + 3_600)).toEqual({});
});
