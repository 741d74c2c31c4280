import { describe, expect, it } from "vitest";
import { mask } from "./mask.ts";

const secrets = { key: "AKIDEXAMPLE|secret-part-0001|us-east-1", baseUrl: "https://llm.corp.example:8443/v1" };

describe("mask", () => {
  it.each([
    ["Incorrect key sk-abcdef123456 given", "Incorrect key *** given"],
    ["use AIzaSyA1234567890 or Bearer abc.def-123", "use *** or Bearer ***"],
    ["key test****-key is wrong", "key *** is wrong"],
    ["AKIAIOSFODNN7EXAMPLE unknown", "*** unknown"],
    ["jwt eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJhIn0.c2ln end", "jwt *** end"],
    ["piece cret-part-000 of it", "piece *** of it"],
    ["region us-east-1 stays", "region us-east-1 stays"],
    ["at llm.corp.example:8443 and https://other.example/path?x=1", "at *** and https://***/path?x=1"],
    ["from 10.1.2.3:443 and fe80::1 and ::1", "from *** and *** and ***"],
    ["organization org-abc123 project proj_9xyz", "organization *** project ***"],
    ["mail ops@corp.example now", "mail *** now"],
    ["the post at 10:20:30 was long: prompt is too long", "the post at 10:20:30 was long: prompt is too long"],
    ["model `gpt-5.6` not found: x::y", "model `gpt-5.6` not found: x::y"],
  ])("%s", (message, expected) => {
    expect(mask(message, secrets)).toBe(expected);
  });

  it.each(["-eyJ", "eyJ-", "::::", "a", "a@", "1.", "*"])("takes no time for long runs of %s", (unit) => {
    const before = process.cpuUsage();
    mask(`${unit.repeat(65_536 / unit.length)}g`, secrets);
    // CPU time: load on the machine does not lengthen it.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it.each([
    ["k-1", "Incorrect key k-1 given, 'k-1', key=k-1.", "Incorrect key *** given, '***', key=***."],
    ["abc1234", "abc1234: no such key", "***: no such key"],
    ["a+b", "key a+b and (a+b)", "key *** and (***)"],
    ["$$$", "key $$$ is wrong", "key *** is wrong"],
    ["none", "none: the model nonesuch does not exist", "***: the model nonesuch does not exist"],
    ["密钥", "key 密钥 is wrong", "key *** is wrong"],
    [" id7 | pass ", "id7 with pass in passing", "*** with *** in passing"],
    ["", "nothing to hide", "nothing to hide"],
  ])("hides the short key %j", (key, message, expected) => {
    expect(mask(message, { key, baseUrl: "" })).toBe(expected);
  });

  it("hides a service account by its private members only", () => {
    const key = JSON.stringify({ type: "service_account", project_id: "demo-project", client_email: "gw@demo.iam" });
    expect(mask("service_account of demo-project refused", { key, baseUrl: "" })).toBe(
      "service_account of *** refused",
    );
  });
});
