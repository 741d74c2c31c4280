import { DEFAULT_TEAM_SETTINGS, type TeamView } from "@fairway/wire";
import { expect, test } from "vitest";
import { resolveRights } from "../../../shared/teams/rights.ts";
import { checkSettings, toChange, toSettingsDraft } from "./settings-form.ts";

const TEAM: TeamView = {
  id: 4,
  slug: "research",
  name: "Research",
  role: "admin",
  status: 1,
  group: "default",
  quota: 0,
  used_quota: 0,
  members: 1,
  keys: 0,
  labels: { unit: "sales" },
  created_at: 1,
  description: "",
  settings: {
    ...DEFAULT_TEAM_SETTINGS,
    groups: [],
    models: ["gpt-*"],
    channels: [2],
    limits: { rpm: 5 },
    member_limits: {},
  },
  created_by: 1,
  deleted_at: 0,
  account_id: 9,
};

const ROOT = 100;
const PERSON = 1;

test("a form that changes nothing sends nothing", () => {
  expect(checkSettings(toSettingsDraft(TEAM))).toEqual({});
  expect(toChange(toSettingsDraft(TEAM), TEAM, resolveRights(TEAM, ROOT))).toEqual({});
});

test("only what changed is sent, and only what the reader may change", () => {
  const draft = {
    ...toSettingsDraft(TEAM),
    name: "Lab",
    group: "vip",
    max_key_days: "30",
    limits: { rpm: "", tpm: "100", concurrency: "" },
  };
  const settings = { max_key_days: 30, limits: { tpm: 100 } };
  expect(toChange(draft, TEAM, resolveRights(TEAM, PERSON))).toEqual({ settings });
  expect(toChange(draft, TEAM, resolveRights(TEAM, ROOT))).toEqual({ name: "Lab", group: "vip", settings });
});

test("what cannot be read is named", () => {
  const draft = toSettingsDraft(TEAM);
  expect(checkSettings({ ...draft, name: " ", labels: "x", channels: ["a"], max_key_days: "-1" })).toEqual({
    name: "nameMissing",
    labels: "badLabels",
    channels: "badChannels",
    max_key_days: "badCount",
  });
  expect(checkSettings({ ...draft, member_limits: { rpm: "0", tpm: "", concurrency: "" } })).toEqual({
    member_limits: "badLimits",
  });
});

test.each([
  ["owner", { report: true, makeKeys: true, manage: true, own: true, transfer: true, isOperator: false }],
  ["admin", { report: true, makeKeys: true, manage: true, own: false, transfer: false }],
  ["member", { report: false, makeKeys: true, seeKeys: true, manage: false, own: false }],
  ["viewer", { report: true, makeKeys: false, seeKeys: false, manage: false, own: false }],
])("the role %s opens what the server allows", (role, expected) => {
  expect(resolveRights({ ...TEAM, role }, PERSON)).toMatchObject(expected);
});

test("where only admins make keys, a member has none", () => {
  const settings = { ...TEAM.settings, who_makes_keys: "admins" as const };
  expect(resolveRights({ role: "member", settings }, PERSON)).toMatchObject({ seeKeys: false, makeKeys: false });
  expect(resolveRights({ role: "", settings }, 10)).toMatchObject({ makeKeys: false, manageKeys: true, own: true });
});
