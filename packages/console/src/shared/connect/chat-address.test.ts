import { expect, test } from "vitest";
import { appAddress, chatAddress } from "./chat-address.ts";

const access = { key: "abc", address: "https://gw.example" };

test("a plain address gets key and server in its fragment", () => {
  const address = chatAddress("https://chat.example/", access) ?? "";
  expect(address.startsWith("https://chat.example/#/?settings=")).toBe(true);
  expect(JSON.parse(decodeURIComponent(address.split("settings=")[1] ?? ""))).toEqual({
    key: "sk-abc",
    url: "https://gw.example",
  });
});

test("a template gets them in its places", () => {
  expect(chatAddress("https://c.example/?k={key}&u={address}", access)).toBe(
    "https://c.example/?k=sk-abc&u=https%3A%2F%2Fgw.example",
  );
});

test("links that would run a script are none", () => {
  expect(chatAddress("javascript:alert('{key}')", access)).toBeUndefined();
  expect(chatAddress("", access)).toBeUndefined();
});

test("links of installed applications are opened, scripts are not", () => {
  expect(appAddress("opencat://team/join?domain={address}&token={key}", access)).toBe(
    "opencat://team/join?domain=https%3A%2F%2Fgw.example&token=sk-abc",
  );
  expect(appAddress("javascript:alert('{key}')", access)).toBeUndefined();
  expect(chatAddress("opencat://team/join?token={key}", access), "no frame holds an application").toBeUndefined();
});
