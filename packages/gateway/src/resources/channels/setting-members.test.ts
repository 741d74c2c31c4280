import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { changedFields } from "./input.ts";
import { SETTING_MEMBERS, settingFault } from "./setting-members.ts";

const IDLE = "does nothing for channels of this type: leave it out";

it.each([
  [1, "paths", { chat: "/x" }],
  [1, "drop_params", ["user"]],
  [1, "max_tokens_field", "max_tokens"],
  [1, "no_developer_role", true],
  [1, "azure_strip_dots", true],
  [1, "entra_authority", "https://login.example"],
  [14, "protocol", "native"],
  [46, "protocol", "v2"],
  [14, "auth", "jwt"],
  [14, "response_mode", "streaming"],
  [14, "responses_mode", "always"],
  [1, "forward_mode", true],
  [1, "safety_settings", [{ category: "x" }]],
  [15, "batch_max_open", 3],
])("type %i does nothing with %s", (type, member, value) => {
  const setting = { [member]: value };
  expect(settingFault({ limits: {}, ...setting }, type)).toEqual({ member, reason: IDLE });
  expect(settingFault(setting, type, { type, setting: JSON.stringify(setting) })).toBeUndefined();
});

it.each([
  [1005, { paths: { chat: "/x" }, drop_params: ["user"], max_tokens_field: "max_tokens", no_developer_role: true }],
  [1, { responses_mode: "never", force_stream_option: false, proxy: "http://p.example", headers: { a: "b" } }],
  [1, { proxy: "socks5://user:word@p.example:1080", shared_ids: ["vs_1"], key_limits: { rpm: 1 } }],
  [3, { azure_strip_dots: true, entra_authority: "https://login.example", responses_mode: "never" }],
  [17, { protocol: "native" }],
  [15, { protocol: "v2" }],
  [26, { auth: "jwt" }],
  [16, { auth: "jwt" }],
  [24, { safety_settings: [{ category: "x" }] }],
  [14, { batch_max_open: 1, batch_max_tokens: 2_000_000 }],
  [2, { forward_mode: true }],
])("type %i takes %j", (type, setting) => {
  expect(settingFault(setting, type)).toBeUndefined();
});

// @weakness Console: A setting of a channel is accepted where it does nothing: of another type, in another form, or misspelt
it.each([
  [1, { thinking_to_content: true }, "is not a setting of this gateway: leave it out"],
  [1, { system_prompt: "Answer in French." }, "is not a setting of this gateway: leave it out"],
  [1, { toString: "x" }, "is not a setting of this gateway: leave it out"],
  [1, { force_stream_optoin: true }, "is not a setting of this gateway: did you mean force_stream_option?"],
  [1, { force_stream_option: "no" }, "must be true or false"],
  [1, { responses_mode: "sometimes" }, "must be always or never"],
  [1, { multi_key_mode: "first" }, "must be random or polling"],
  [1, { shared_ids: "vs_1" }, "must be a list of texts"],
  [1, { headers: "x-team: a" }, "must be a JSON object"],
  [1, { proxy: "proxy.example:3128" }, "must be an address such as http://proxy.example:3128"],
  [1, { proxy: "ftp://proxy.example" }, "must be an address such as http://proxy.example:3128"],
  [3, { azure_strip_dots: "true" }, "must be true or false"],
  [3, { entra_authority: "login.example" }, "must be an address such as http://proxy.example:3128"],
  [15, { protocol: "native" }, "must be v1 or v2"],
  [17, { protocol: "v2" }, "must be native or compatible"],
  [26, { auth: "bearer" }, "must be jwt"],
  [24, { safety_settings: { category: "x" } }, "must be a list of JSON objects"],
  [1, { batch_max_open: "3" }, "must be a whole number of at least 1; leave it out for no limit"],
  [3, { batch_max_tokens: 1.5 }, "must be a whole number of at least 1; leave it out for no limit"],
  [24, { batch_max_open: -1 }, "must be a whole number of at least 1; leave it out for no limit"],
  [1005, { drop_params: "user" }, "must be a list of texts"],
  [1005, { max_tokens_field: 5 }, "must be text"],
  [1005, { paths: "/x" }, "must be a JSON object of paths"],
  [1005, { paths: { chat: "/x", chatt: "/y" } }, "must map operations to paths (chatt)"],
])("type %i does not take %j", (type, setting, reason) => {
  expect(settingFault(setting, type)).toEqual({ member: Object.keys(setting)[0], reason });
});

// Forms of compatible consoles send these whether or not their fields are filled in.
it("blank members pass, known or not", () => {
  const blank = { force_format: false, thinking_to_content: false, system_prompt: "", proxy: "", limits: {}, x: [0] };
  for (const type of [1, 14, 1005])
    expect(settingFault({ ...blank, paths: {}, drop_params: [] }, type)).toBeUndefined();
});

it("a stored member that does nothing may stay, another value or another idle one may not", () => {
  const stored = { type: 1, setting: '{"old":{"a":1}}' };
  expect(settingFault({ old: { a: 1 } }, 1, stored)).toBeUndefined();
  expect(settingFault({ old: { a: 2 } }, 1, stored)).toMatchObject({ member: "old" });
  expect(settingFault({ old: { a: 1 } }, 14, stored)).toBeUndefined();
});

it("a change of the type is refused while a stored member would stop working", () => {
  const current = { type: 1005, status: 1, other: "", setting: '{"paths":{"chat":"/x"}}' };
  const isType = () => true;
  expect(() => changedFields({ type: 1 }, current, isType)).toThrow(`setting.paths ${IDLE}`);
  expect(changedFields({ type: 1, setting: "" }, current, isType)).toMatchObject({ type: 1, setting: null });
  expect(changedFields({ type: 1005, name: "x" }, current, isType)).not.toHaveProperty("setting");
});

it("the documentation has a row for each member, and for no other", () => {
  const page = readFileSync(new URL("../../../../../docs/operate/providers.md", import.meta.url), "utf8");
  const [, table = ""] = page.split("## Settings of a channel");
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)[^`]*`/g)].map(([, name = ""]) => name),
  );
  expect(named.toSorted()).toEqual([...SETTING_MEMBERS].toSorted());
});
