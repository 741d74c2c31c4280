import * as wire from "@fairway/wire";
import * as z from "zod/mini";

type Json = Readonly<Record<string, unknown>>;

/** A shape that commands print with `-o json`, or read. */
export interface Described {
  readonly name: string;
  /** Commands that print or read it. */
  readonly where: string;
  schema(): Json;
}

const { jsonSchema } = wire;

function ofWire(schema: z.ZodMiniType | undefined): Json {
  if (!schema) throw new Error("the call answers no data");
  return open(jsonSchema(schema, "output")) as Json;
}

/** Returns the schema of the items in an API list. */
function ofItems(schema: z.ZodMiniType | undefined): Json {
  return schemaIn(ofWire(schema), "items");
}

/** Returns a part of a schema, such as `items` of a list. */
function schemaIn(schema: Json, ...path: readonly string[]): Json {
  return path.reduce<Json>((found, part) => found[part] as Json, schema);
}

/** Allows unknown members, because a later version may add some. */
function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== "additionalProperties" || member !== false);
  return Object.fromEntries(members.map(([name, member]) => [name, open(member)]));
}

/** Removes the secret of a resource, which is not printed with it. */
function omitSecret(schema: Json, secret: string, added: Json = {}): Json {
  const { [secret]: _secret, ...properties } = schema["properties"] as Json;
  const required = (schema["required"] as readonly string[]).filter((name) => name !== secret);
  return { ...schema, properties: { ...properties, ...added }, required: [...required, ...Object.keys(added)] };
}

const text = z.string();
const OUTCOME = z.object({ id: z.int(), ok: z.boolean(), message: text });
const OWN: readonly (readonly [name: string, where: string, schema: z.ZodMiniType])[] = [
  ["ChannelTest", "channel test", z.object({ id: z.int(), ok: z.boolean(), seconds: z.number(), message: text })],
  [
    "ChannelBeta",
    "channel test --betas",
    z.object({ id: z.int(), beta: text, host: text, answer: text, sent_as: text, message: text }),
  ],
  ["ChannelSwitch", "channel enable, channel disable", OUTCOME],
  ["ChannelBalance", "channel balance", OUTCOME],
  ["ChannelDelete", "channel delete", OUTCOME],
  ["TokenSwitch", "token enable, token disable", OUTCOME],
  ["TokenDelete", "token delete", OUTCOME],
  ["UserChange", "user enable, user disable, user promote, user demote", OUTCOME],
  ["UserDelete", "user delete", OUTCOME],
  ["RedemptionSwitch", "redemption enable, redemption disable", OUTCOME],
  ["RedemptionDelete", "redemption delete", OUTCOME],
  ["BudgetDelete", "budget delete", OUTCOME],
  ["SavedReport", "report list, report save, report schedule", wire.SavedReport],
  ["SavedReportDelete", "report delete", OUTCOME],
  ["CreatedBatch", "batch create", z.object({ id: text, status: text, input_file_id: text })],
  ["UploadedFile", "file upload", z.object({ id: text, bytes: z.int(), filename: text, purpose: text })],
  ["FileDelete", "file delete", z.object({ id: text, ok: z.boolean(), message: text })],
  [
    "Report",
    "report",
    z.object({
      start: z.optional(z.int()),
      subject: text,
      name: text,
      calls: z.int(),
      errors: z.int(),
      refused: z.int(),
      input_tokens: z.int(),
      output_tokens: z.int(),
      quota: z.int(),
    }),
  ],
  [
    "UsageReport",
    "report with tags, filters or several fields, which are members too",
    z.looseObject({
      start: z.int(),
      calls: z.int(),
      errors: z.int(),
      input_tokens: z.int(),
      output_tokens: z.int(),
      quota: z.int(),
      cost_usd: text,
    }),
  ],
  ["RedemptionCode", "redemption create, redemption code", z.object({ code: text })],
  ["Option", "option get", z.object({ key: text, value: text })],
  ["Model", "model list, channel models", z.object({ model: text })],
  ["TypeModels", "model map", z.object({ type: z.int(), name: text, models: z.array(text) })],
  ["Group", "group list", z.object({ name: text, label: text })],
  [
    "Finding",
    "doctor",
    z.object({ check: text, verdict: z.enum(["ok", "warning", "failure"]), message: text, cure: z.optional(text) }),
  ],
  ["Setting", "config view, config get", z.object({ setting: text, value: z.union([text, z.number()]), source: text })],
  ["Context", "context list", z.object({ name: text, current: z.boolean(), server: text, user_id: z.int() })],
  ["Call", "api", z.object({ name: text, method: text, path: text, access: text, summary: text })],
  ["Field", "explain", z.object({ field: text, type: text, required: z.boolean() })],
  ["ImportLine", "import", z.object({ line: text })],
  ["Schema", "schema", z.object({ name: text, where: text })],
  [
    "Version",
    "version",
    z.object({
      client: z.object({ version: text, node: text }),
      server: z.optional(z.object({ version: text, address: text })),
    }),
  ],
  [
    "Error",
    "every command that fails, on standard error",
    z.object({ error: z.object({ code: z.optional(text), message: text, hint: z.optional(text) }) }),
  ],
];

/** Shapes of the management API. */
const OF_API: readonly Described[] = [
  { name: "Channel", where: "channel list, channel get", schema: () => ofWire(wire.channelGet.data) },
  { name: "ChannelType", where: "channel types", schema: () => ofItems(wire.channelTypes.data) },
  { name: "ChannelKey", where: "channel keys", schema: () => ofItems(wire.channelKeys.data) },
  {
    name: "Token",
    where: "token list, token get, team keys",
    schema: () => omitSecret(ofWire(wire.tokenGet.data), "key", { key_hint: { type: "string" } }),
  },
  { name: "User", where: "user list, user get", schema: () => ofWire(wire.userGet.data) },
  {
    name: "Redemption",
    where: "redemption list, redemption get",
    schema: () => omitSecret(ofWire(wire.redemptionGet.data), "key"),
  },
  {
    name: "Team",
    where: "team list, team get, team create, team update, team restore, team convert",
    schema: () => ofItems(wire.teamList.data),
  },
  { name: "ConversionPlan", where: "team convert --plan", schema: () => ofWire(wire.teamConversion.data) },
  { name: "TeamMember", where: "team members", schema: () => ofItems(wire.teamMemberList.data) },
  { name: "TeamInvitation", where: "team invitations", schema: () => ofItems(wire.teamInvitationList.data) },
  {
    name: "ServiceAccount",
    where: "service-account list, service-account create, service-account update",
    schema: () => ofItems(wire.serviceAccountList.data),
  },
  { name: "ServiceToken", where: "service-account token list", schema: () => ofItems(wire.serviceTokenList.data) },
  {
    name: "Budget",
    where: "budget list, budget create, budget update, team budgets",
    schema: () => ofItems(wire.budgetList.data),
  },
  {
    name: "Batch",
    where: "batch list, batch get, batch watch, batch cancel, batch settle, batch abandon",
    schema: () => ofItems(wire.batchList.data),
  },
  { name: "File", where: "file list", schema: () => ofItems(wire.fileList.data) },
  { name: "OptionChange", where: "option history", schema: () => ofItems(wire.optionHistory.data) },
  { name: "Price", where: "pricing list", schema: () => ofItems(wire.pricingList.data) },
  { name: "Explanation", where: "pricing explain", schema: () => ofWire(wire.pricingExplain.data) },
  {
    name: "Log",
    where: "log list, log follow",
    schema: () => schemaIn(ofWire(wire.logList.data), "properties", "items", "items"),
  },
  { name: "LogExplanation", where: "log explain", schema: () => ofWire(wire.logExplain.data) },
  { name: "Task", where: "task list, task get", schema: () => ofItems(wire.taskList.data) },
  { name: "Drawing", where: "drawing list, drawing get", schema: () => ofItems(wire.drawingList.data) },
  { name: "Change", where: "diff, apply, delete", schema: () => ofItems(wire.declarativePlan.data) },
  {
    name: "Document",
    where: "what apply, diff and delete read; export",
    schema: () => jsonSchema(wire.DeclarativeDocument, "input"),
  },
];

export const DESCRIBED: readonly Described[] = [
  ...OF_API,
  ...OWN.map(([name, where, schema]) => ({ name, where, schema: () => ofWire(schema) })),
];
