import { WEBHOOK_FORMATS, type Webhook } from "@fairway/wire";
import { expect, test } from "vitest";
import { checkEndpoint, newEndpoint, toEndpointChange, toEndpointDraft, toNewEndpoint } from "./endpoint-form.ts";

const ZONE = "Europe/Berlin";
const blank = newEndpoint("en", ZONE);
const filled = {
  ...blank,
  name: " on-call ",
  url: " https://hooks.example.com/x ",
  secret: "robot",
  chat_id: " -100 ",
};

test.each(WEBHOOK_FORMATS)("%s sends only the members that it has", (format) => {
  const body = toNewEndpoint({ ...filled, format });
  expect(body).toMatchObject({ name: "on-call", format, url: "https://hooks.example.com/x", types: [], quiet: "off" });
  expect("secret" in body).toBe(["feishu", "lark", "dingtalk"].includes(format));
  expect(body.chat_id).toBe(format === "telegram" ? "-100" : undefined);
  expect("group_seconds" in body).toBe(format !== "standard" && format !== "alertmanager");
  expect(checkEndpoint({ ...filled, format }, true)).toEqual({});
});

test("what is missing is named, and an edit keeps address, secret and chat", () => {
  expect(checkEndpoint(blank, true)).toEqual({ name: "nameMissing", url: "urlMissing" });
  expect(checkEndpoint({ ...blank, name: "x", format: "telegram" }, true)).toMatchObject({ chat_id: "chatMissing" });
  expect(checkEndpoint({ ...blank, name: "x", format: "telegram" }, false)).toEqual({});
  expect(checkEndpoint({ ...filled, hasAllTypes: false }, true)).toEqual({ types: "typesMissing" });
  for (const seconds of ["", "-1", "3601", "1.5", "x"])
    expect(checkEndpoint({ ...filled, format: "slack", group_seconds: seconds }, true)).toEqual({
      group_seconds: "secondsWrong",
    });
  const quiet = { ...filled, quiet: true, zone: " ", weekdays: [] };
  expect(checkEndpoint(quiet, true)).toEqual({ quiet: "zoneMissing", weekdays: "daysMissing" });
  const change = toEndpointChange({ ...blank, name: "x", format: "feishu" });
  for (const member of ["url", "secret", "chat_id", "format"]) expect(member in change).toBe(false);
});

test("an endpoint survives its form", () => {
  const quiet = { zone: "Asia/Shanghai", from: "20:00", to: "08:00", weekdays: [1, 2] };
  const endpoint: Webhook = {
    id: 1,
    name: "chat",
    format: "slack",
    host: "hooks.slack.com",
    types: ["balance.low"],
    min_severity: "warning",
    language: "zh",
    quiet,
    group_seconds: 60,
    ordered: true,
    status: "on",
    disabled_reason: "",
    failures: 0,
    succeeded_at: 0,
    created_at: 1,
    updated_at: 1,
  };
  const { types, min_severity, language, group_seconds, ordered, name } = endpoint;
  expect(toEndpointChange(toEndpointDraft(endpoint, ZONE))).toEqual({
    name,
    types,
    min_severity,
    language,
    group_seconds,
    ordered,
    quiet,
  });
  expect(toEndpointDraft({ ...endpoint, quiet: null, types: [] }, ZONE)).toMatchObject({
    quiet: false,
    zone: ZONE,
    hasAllTypes: true,
  });
});
