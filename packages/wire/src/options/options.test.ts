import { describe, expect, it } from "vitest";
import { decimalText } from "../core/decimals.ts";
import { checkOption, isHiddenOption, isSecretOption, OPTION_KEYS, OPTIONS, parseOptions } from "./options.ts";

const current = parseOptions([]);

function refusal(key: string, text: string, values = current): unknown {
  const check = checkOption(key, text, values);
  return check.isValid ? undefined : check.messageKey;
}

function rule(key: string, text: string): unknown {
  const check = checkOption(key, text, current);
  return check.isValid ? undefined : check.values["rule"];
}

function stored(key: string, text: string): unknown {
  const check = checkOption(key, text, current);
  return check.isValid ? check.text : check;
}

describe("defaults", () => {
  it("pass their own checks and have the values of the contract", () => {
    expect(current.PasswordLoginEnabled).toBe(true);
    expect(current.Price).toBe(7.3);
    expect(current.EmailDomainWhitelist).toHaveLength(9);
    expect(current.GroupRatio["svip"]).toBe("1");
    expect(current.Chats).toHaveLength(3);
    expect(current.AutomaticDisableKeywords).toHaveLength(7);
    expect(current.ModelRatio).toEqual({});
  });

  it("can be replaced by the gateway's own tables", () => {
    const values = parseOptions([], { defaults: { ModelRatio: '{"m":0.10}' } });
    expect(values.ModelRatio["m"]).toBe("0.1");
  });
});

describe("stored rows", () => {
  it("replace defaults; broken and unknown ones are ignored, broken ones reported", () => {
    const warned: string[] = [];
    const rows = [
      { key: "RetryTimes", value: "3" },
      { key: "Price", value: "free" },
      { key: "Nonsense", value: "1" },
    ];
    const values = parseOptions(rows, { warn: (key) => warned.push(key) });
    expect(values.RetryTimes).toBe(3);
    expect(values.Price).toBe(7.3);
    expect(warned).toEqual(["Price"]);
  });
});

describe("rules of P9", () => {
  it.each([
    ["RegisterEnabled", "yes", "true or false"],
    ["RetryTimes", "-1", "an integer not below 0"],
    ["MinTopUp", "0", "an integer not below 1"],
    ["SMTPPort", "65536", "an integer from 1 to 65535"],
    ["RetryTimes", "1.5", "an integer not below 0"],
    ["ChannelQueueSeconds", "9007199254740991", "an integer from 1 to 3600"],
    ["ModelRequestRateLimitDurationMinutes", "9007199254740991", "an integer from 1 to 525600"],
    ["ChannelDisableThreshold", "-0.5", "a number not below 0"],
    ["Price", "0", "a number above 0"],
    ["QuotaPerUnit", "", "a number above 0"],
    ["TopUpLink", "ftp://x", "an http(s) address or empty"],
    ["ServerAddress", "https://", "an http(s) address or empty"],
    ["DataExportDefaultTime", "month", "hour, day or week"],
    ["SystemName", "  ", "1 to 64 characters long"],
    ["SystemName", "x".repeat(65), "1 to 64 characters long"],
    ["ChatLink", " java\tscript:alert(1)", "a link without a script scheme"],
    ["Chats", '[{"x":"data:text/html,1"}]', "a link without a script scheme"],
    ["Notice", "ü".repeat(262_145), "at most 512 KiB long"],
    ["ModelRatio", '{"ok":1,"a":1e400}', "a number not above 9007199254740991 for a"],
    ["GroupRatio", '{"vip":9007199254740992}', "a number not above 9007199254740991 for vip"],
  ])("%s refuses %j", (key, text, expected) => {
    expect(refusal(key, text)).toBe("option_value_invalid");
    expect(rule(key, text)).toBe(expected);
  });
});

describe("other refusals", () => {
  it.each([
    ["Unknown", "1", "option_unknown"],
    ["__proto__", "1", "option_unknown"],
    ["ModelRatio", "{", "option_json_invalid"],
    ["ModelRatio", "[1]", "option_json_invalid"],
    ["ModelRatio", "1", "option_json_invalid"],
    ["UserUsableGroups", '{"a":1}', "option_json_invalid"],
    ["Chats", "{}", "option_json_invalid"],
    ["AutoGroups", '["a",1]', "option_json_invalid"],
    ["TopupGroupRatio", "x", "topup_ratio_json_invalid"],
    ["GroupRatio", '{"a":-1}', "price_invalid"],
    ["ModelPrice", '{"a":"1"}', "price_invalid"],
    ["GitHubOAuthEnabled", "true", "github_not_configured"],
    ["WeChatAuthEnabled", "true", "wechat_not_configured"],
    ["TurnstileCheckEnabled", "true", "turnstile_not_configured"],
    ["TelegramOAuthEnabled", "true", "telegram_not_configured"],
    ["PayAddress", "https://pay.example", "server_address_missing"],
  ])("%s = %j is %s", (key, text, code) => {
    expect(refusal(key, text)).toBe(code);
  });

  it("name the member of a ratio table", () => {
    const check = checkOption("ModelRatio", '{"ok":1,"bad":null}', current);
    expect(check).toMatchObject({ messageKey: "price_invalid", values: { name: "bad" } });
  });

  it("let a switch on once what it needs is there", () => {
    const ready = parseOptions([
      { key: "GitHubClientId", value: "id" },
      { key: "GitHubClientSecret", value: "secret" },
      { key: "EmailDomainWhitelist", value: "" },
    ]);
    expect(refusal("GitHubOAuthEnabled", "true", ready)).toBeUndefined();
    expect(refusal("EmailDomainRestrictionEnabled", "true", ready)).toBe("email_domains_not_configured");
    expect(refusal("EmailDomainRestrictionEnabled", "true")).toBeUndefined();
    expect(refusal("GitHubOAuthEnabled", "false")).toBeUndefined();
    expect(refusal("PayAddress", "")).toBeUndefined();
  });
});

describe("stored texts", () => {
  it("are tidied", () => {
    expect(stored("ServerAddress", " https://gw.example// ")).toBe("https://gw.example");
    expect(stored("EmailDomainWhitelist", "A.com, a.com,,b.org ")).toBe("a.com,b.org");
    expect(stored("SensitiveWords", " one \n\r\n two\n")).toBe("one\ntwo");
    expect(stored("RetryTimes", " 3")).toBe("3");
    expect(stored("SystemName", " Gate ")).toBe("Gate");
  });

  it("keep ratio numbers exactly as typed", () => {
    const check = checkOption(
      "ModelRatio",
      '{"a":0.30000000000000004,"b":8.219178082191782,"c":1e-3,"__proto__":2}',
      current,
    );
    const value = check.isValid ? (check.value as Record<string, string>) : {};
    expect(Object.entries(value)).toEqual([
      ["a", "0.30000000000000004"],
      ["b", "8.219178082191782"],
      ["c", "0.001"],
      ["__proto__", "2"],
    ]);
    expect(Object.getPrototypeOf(value)).toBeNull();
  });
});

describe("decimal text", () => {
  it.each([
    ["1", "1"],
    ["1.50", "1.5"],
    ["1e3", "1000"],
    ["1.25E+2", "125"],
    ["12.5e-4", "0.00125"],
    ["0.0", "0"],
    [".5", "0.5"],
    ["-2", "-2"],
    ["-0", "0"],
    ["007", "7"],
  ])("%s is %s", (source, plain) => expect(decimalText(source)).toBe(plain));

  it.each(["", ".", "abc", "1e", "0x1", "1e9999", "Infinity"])("%j is none", (source) =>
    expect(decimalText(source)).toBeUndefined(),
  );
});

describe("secrecy", () => {
  it("follows the end of the name in any case", () => {
    expect(isHiddenOption("oidc.client_secret")).toBe(true);
    expect(isHiddenOption("TurnstileSiteKey")).toBe(true);
    expect(isSecretOption("TurnstileSiteKey")).toBe(false);
    expect(isSecretOption("SMTPToken")).toBe(true);
    expect(isHiddenOption("SMTPAccount")).toBe(false);
  });

  it("shows no secret in the status view", () => {
    expect(OPTION_KEYS.filter((key) => OPTIONS[key].shownAs !== undefined && isSecretOption(key))).toEqual([]);
  });
});
