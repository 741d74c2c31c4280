import type { ResourceKind } from "@fairway/wire";
import { describe, expect, test } from "vitest";
import type { Condition, ConditionType } from "./conditions.ts";
import { never, POLL, useController, type ContractCluster } from "./controller-kit.contract.ts";
import { KINDS } from "./resources.ts";
import { COMPLETE, listSchemaFaults, type SchemaFault } from "./schema-faults.contract.ts";

interface Wrong {
  readonly kind: ResourceKind;
  readonly spec: object;
  /** What the refusal or the condition says: the field, and what it takes. */
  readonly says: string;
  /** The condition that says it, if the server takes the value. */
  readonly type: ConditionType;
}

const channel = (spec: object, says: string, type: ConditionType = "Programmed"): Wrong => ({
  kind: "Channel",
  spec: { type: "openai", models: ["m"], ...spec },
  says,
  type,
});
const options = (spec: object, says: string): Wrong => ({ kind: "OptionSet", spec, says, type: "Programmed" });
const token = (spec: object, says: string, type: ConditionType = "Programmed"): Wrong => ({
  kind: "Token",
  spec: { owner: { username: "ann" }, ...spec },
  says,
  type,
});
const budget = (spec: object, says: string, type: ConditionType = "Programmed"): Wrong => ({
  kind: "Budget",
  spec: { scope: "user", subject: "ann", period: "day", limit: 5, ...spec },
  says,
  type,
});
const option = (name: string, value: string, says: string) => options({ values: { [name]: value } }, says);

const WRONG: readonly Wrong[] = [
  channel({ settings: { limitz: { rpm: 5 } } }, "limitz is not a setting of this gateway: did you mean limits"),
  channel({ settings: { limits: { rpmm: 5 } } }, "limits.rpmm is unknown; limits are rpm, tpm, concurrency"),
  channel({ settings: { limits: { rpm: "many" } } }, "limits.rpm must be an integer"),
  channel({ settings: { proxy: "nonsense" } }, "proxy must be an address"),
  channel({ settings: { multi_key_mode: "sometimes" } }, "multi_key_mode must be random or polling"),
  channel(
    { statusCodeMapping: { "not found": "teapot" } },
    "must map statuses to statuses from 400 to 599 (not found)",
  ),
  channel({ statusCodeMapping: { "404": "4040" } }, "must map statuses to statuses from 400 to 599 (404)"),
  channel({ statusCodeMapping: { "99": "500" } }, "must map statuses to statuses from 400 to 599 (99)"),
  channel({ groups: ["defualt"] }, "no group defualt (did you mean default?)", "GroupsResolved"),
  channel({ modelMapping: { a: "" } }, "must name a model on both sides"),
  channel({ headerOverride: { "bad header": "x" } }, "is not the name of a header"),
  channel({ headerOverride: { host: "x" } }, "host is set by the gateway alone"),
  channel({ type: "openaii" }, "openaii"),
  channel({ type: "custom" }, "no address of its own", "Ready"),
  channel({ models: [] }, "spec.models"),
  channel({ models: ["a,b"] }, "spec.models"),
  channel({ baseUrl: "api.example.com" }, "must be an address that begins with https:// or http://"),
  channel({ weight: -1 }, "spec.weight"),
  channel({ costRatio: "half" }, "spec.costRatio"),
  channel({ adopt: { channelId: 9_999 } }, "there is no channel 9999"),
  channel({ openaiOrganization: "a\nb" }, "openai_organization has a sign that no header can carry"),
  channel({ colour: "red" }, "colour"),
  option("RetryTimes", "many", "RetryTimes must be an integer"),
  option("RetryTimez", "3", "there is no option RetryTimez: did you mean RetryTimes?"),
  option("SMTPToken", "in-clear", "SMTPToken holds a secret"),
  option("KubernetesPaused", "true", "KubernetesPaused cannot be set by a document"),
  option("RegisterEnabled", "perhaps", "RegisterEnabled must be true or false"),
  option("ChannelStrategy", "fastest", "ChannelStrategy must be weight, least_busy, latency or cost"),
  option("ServerAddress", "nope", "ServerAddress must be an http(s) address or empty"),
  option("RetryTimes", "-1", "RetryTimes must be an integer"),
  option("QuotaPerUnit", "lots", "QuotaPerUnit must be a number"),
  option("StripeSecretKey", "sk_live", "StripeSecretKey holds a secret"),
  option("TelegramBotToken", "in-clear", "TelegramBotToken holds a secret"),
  option("LogConsumeEnabled", "yes", "LogConsumeEnabled must be true or false"),
  option("GroupRatio", '{"a":"b"}', "must be numbers not below 0: a"),
  options({ json: { ModelRatio: { m: "x" } } }, "must be numbers not below 0: m"),
  options({ values: { SystemName: "A" }, json: { SystemName: {} } }, "SystemName has two values"),
  options({ valuesFrom: [{ option: "SMTPTokn", secretKeyRef: { name: "a", key: "b" } }] }, "option"),
  token({ group: "defualt" }, "no group defualt (did you mean default?)", "GroupsResolved"),
  token({ expiresAt: "tomorrow" }, "expiresAt"),
  token({ allowIps: ["999.1.1.1"] }, "999.1.1.1"),
  token({ owner: { username: "missing" } }, "there is no user missing: create the account first"),
  token({ owner: { team: "missing" } }, "there is no team missing: create the team first"),
  token({ owner: { team: "research", username: "ann" } }, "one of username and team"),
  token({ fallbacks: { models: [{ model: "x", on: ["never"] }] } }, "must be error or context or content"),
  token({ fallbacks: { off: true, models: [{ model: "x" }] } }, "leave off or models out"),
  token({ limits: { rpm: 0 } }, "spec.limits.rpm"),
  token({ displayName: "x".repeat(31) }, "spec.displayName"),
  budget({ subject: "missing" }, "there is no user missing"),
  budget({ scope: "group", subject: "defualt" }, "no group defualt (did you mean default?)", "GroupsResolved"),
  budget({ timeZone: "Mars/Base" }, "The time zone Mars/Base does not exist"),
  budget({ anchor: "99" }, "cannot begin on 99"),
  budget({ period: "hours" }, "needs a length of 1 to 720 hours"),
  budget({ thresholds: [200, 300] }, "spec.thresholds"),
  budget({ limit: 0 }, "spec.limit"),
  budget({ filterModel: "a,b" }, "spec.filterModel"),
  budget({ endsAt: "2030-01-01T00:00:00Z" }, "Only a budget of the period total has an end"),
];

/** Limits that only the work of an API server needs. */
const SERVER_ALONE: ReadonlySet<string> = new Set([
  "OptionSet spec.valuesFrom maxItems",
  "Token spec.modelLimits maxItems",
  "Token spec.allowIps maxItems",
]);

/** Fault -> what a gateway says that reads the value without an API server. */
const IN_OTHER_WORDS: Readonly<Record<string, string>> = {
  "Channel spec.type enum": "there is no channel type no-such-value",
  "OptionSet spec.values maxProperties": "there is no option n0",
  "OptionSet spec.values.SystemName maxLength": "The value of SystemName must be 1 to 64 characters long",
  "OptionSet spec.json maxProperties": "there is no option n0",
  "OptionSet spec.valuesFrom[0].option maxLength": "there is no option xxx",
  "Token spec.owner.username maxLength": "there is no user xxx",
  "Token spec.expiresAt format": "stays: expiresAt is no time",
};

/**
 * Values that are well-formed YAML and cannot be meant. Each is refused by the API server or by a condition, with the
 * field and what it takes; none is silently without effect.
 */
export function wrongValuesContract(name: string, open: () => Promise<ContractCluster>): void {
  describe(`wrong values of resources with ${name}`, () => {
    const kit = useController(open);

    test(`${WRONG.length} values are refused or named by a condition, and Ready is false`, async () => {
      const silent: string[] = [];
      const taken = new Map<string, Wrong>();
      for (const [at, wrong] of WRONG.entries()) {
        const one = `wrong-${at}`;
        const said = await kit.put(wrong.kind, one, wrong.spec).then(
          () => undefined,
          (error: unknown) => String(error),
        );
        if (said === undefined) taken.set(one, wrong);
        else if (!/spec|unknown field/.test(said)) silent.push(`${JSON.stringify(wrong.spec)}: ${said}`);
      }
      await kit.start();
      for (const [one, { kind, spec, says, type }] of taken) {
        await expect.poll(() => kit.condition(kind, one, "Ready"), POLL).toBeTruthy();
        const { status } = await kit.api.get(kit.place(kind, one), never);
        const { conditions = [] } = status as { conditions?: Condition[] };
        const found = conditions.find((each) => each.type === type);
        const isNotReady = conditions.some((each) => each.type === "Ready" && each.status === "False");
        if (found?.status !== "False" || !isNotReady || !found.message.toLowerCase().includes(says.toLowerCase()))
          silent.push(`${JSON.stringify(spec)}: ${found?.status} ${found?.message}`);
      }
      expect(silent).toEqual([]);
    });

    test("whatever a definition forbids, at any depth, is refused or named by a condition", async () => {
      const silent: string[] = [];
      const taken = new Map<string, SchemaFault>();
      const faults = KINDS.flatMap(listSchemaFaults);
      for (const [at, fault] of faults.entries()) {
        const said = await kit.put(fault.kind, `fault-${at}`, fault.spec).then(
          () => undefined,
          (error: unknown) => String(error),
        );
        if (said === undefined) taken.set(`fault-${at}`, fault);
        else if (!said.includes(fault.field)) silent.push(`${describeFault(fault)}: ${said}`);
      }
      await kit.start({ tokenOwners: { [kit.namespace]: ["*"] } });
      for (const [one, fault] of taken) {
        await expect.poll(() => kit.condition(fault.kind, one, "Ready"), POLL).toBeTruthy();
        const programmed = await kit.condition(fault.kind, one);
        const about = describeFault(fault);
        const isRefused = isRefusal(programmed, IN_OTHER_WORDS[about] ?? readWords(fault));
        if (!isRefused && !SERVER_ALONE.has(about)) silent.push(`${about}: ${JSON.stringify(programmed)}`);
      }
      expect(silent).toEqual([]);
      expect(faults.length).toBeGreaterThan(200);
    });

    test("what the faults are drawn from is right", async () => {
      for (const kind of KINDS) await kit.put(kind, "complete", COMPLETE[kind]);
    });

    test("a group that is made later ends the condition, and one that ends begins it", async () => {
      await kit.channel("main", { groups: ["default", "gold"] });
      await kit.start();
      await kit.untilCondition("Channel", "main", { status: "True" });
      await kit.untilCondition("Channel", "main", { status: "False", reason: "GroupNotFound" }, "Ready");
      await expect.poll(() => kit.events("GroupMissing"), POLL).toMatchObject([{ type: "Warning" }]);
      const write = async (value: string) => {
        await kit.members.root.data(kit.members.root.put("/api/option/", { key: "GroupRatio", value }));
        await kit.app.snapshots.refresh();
      };
      await write('{"default":1,"gold":0.5}');
      await kit.untilCondition("Channel", "main", { status: "True", reason: "Resolved" }, "GroupsResolved");
      await write('{"default":1}');
      await kit.untilCondition("Channel", "main", { status: "False", reason: "GroupNotFound" }, "GroupsResolved");
    });
  });
}

function isRefusal(condition: Condition | undefined, words: string): boolean {
  return condition?.status === "False" && condition.message.includes(words);
}

function describeFault({ kind, field, limit }: SchemaFault): string {
  return `${kind} ${field} ${limit}`;
}

/** The gateway names the object that has an unknown member, and writes the number of an entry after a dot. */
function readWords({ field, limit }: SchemaFault): string {
  const path = field.replaceAll(/\[(\d+)\]/g, ".$1");
  return limit === "unknown member" ? path.replace(/\.(\w+)$/, ": has no field $1.") : `${path}:`;
}
