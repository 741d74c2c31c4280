import type { DeclarativeChange } from "@fairway/wire";
import { expect, it } from "vitest";
import { buildFindings } from "./verdicts.ts";

const CHANGE: DeclarativeChange = {
  kind: "Channel",
  name: "main",
  action: "unchanged",
  fields: [],
  message: "",
  resource_id: 1,
};

it("reports a channel as overridden by the member of the plan, whatever its message says", () => {
  const change = { ...CHANGE, message: "a person turned it off", override_until: 1_893_459_600 };
  expect(buildFindings(change, undefined).synced).toEqual({
    status: "True",
    reason: "Overridden",
    message: "A person turned it off.",
  });
});

it("does not read the text of a message as the state of a channel", () => {
  const change = { ...CHANGE, message: "there is no file switched by hand" };
  expect(buildFindings(change, undefined).synced).toMatchObject({ status: "True", reason: "Applied" });
});
