import { expect, it } from "vitest";
import { idleMember } from "./setting-members.ts";

it.each([
  [1, "paths", { chat: "/x" }],
  [1, "drop_params", ["user"]],
  [1, "max_tokens_field", "max_tokens"],
  [1, "no_developer_role", true],
  [1, "azure_strip_dots", true],
  [1, "entra_authority", "https://login.example"],
  [14, "protocol", "native"],
  [14, "auth", "jwt"],
  [14, "response_mode", "streaming"],
  [14, "responses_mode", "always"],
  [1, "forward_mode", true],
  [1, "safety_settings", [{ category: "x" }]],
])("type %i does nothing with %s", (type, name, value) => {
  expect(idleMember({ limits: {}, [name]: value }, type)).toBe(name);
  expect(idleMember({ [name]: value }, type, { [name]: value })).toBeUndefined();
});

it.each([
  [1005, { paths: { chat: "/x" }, drop_params: ["user"], max_tokens_field: "max_tokens", no_developer_role: true }],
  [1, { responses_mode: "never", force_stream_option: false, proxy: "http://p.example", headers: { a: "b" } }],
  [3, { azure_strip_dots: true, entra_authority: "https://login.example", responses_mode: "never" }],
  [17, { protocol: "native" }],
  [15, { protocol: "v2" }],
  [26, { auth: "jwt" }],
  [16, { auth: "jwt" }],
  [24, { safety_settings: [{ category: "x" }] }],
  [2, { forward_mode: true }],
  [1, { paths: {}, drop_params: [], auth: "", azure_strip_dots: false, unknown: 1 }],
])("type %i takes %j", (type, setting) => {
  expect(idleMember(setting, type)).toBeUndefined();
});
