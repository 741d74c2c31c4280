import {
  ApiProblem,
  channelCreate,
  isOptionKey,
  LOWEST_PRIORITY,
  OPTION_KEYS,
  optionUpdate,
  redemptionCreate,
  ROLE,
  tokenCreate,
  userCreate,
  type Client,
  type MessageKey,
  nearest,
} from "@fairway/wire";
import { findHint, formatErrorMessage } from "../../../core/problem.ts";
import { resolveChannelType } from "../../channel/channel.ts";
import { parseQuota } from "../../../core/amounts.ts";
import { parseExpiry } from "../../token/token.ts";
import { FieldProblem, readField, type Field, type Values } from "../form.ts";
import type { Definition, Made } from "./resource.ts";

type Creates = NonNullable<Definition<object>["creates"]>;
type Fields = readonly Omit<Field, "value">[];

const CHANNEL_FIELDS: Fields = [
  { name: "type", hint: "a name or number of `fairway channel types`, such as openai", isNeeded: true },
  { name: "name", hint: "how lists call the channel", isNeeded: true },
  { name: "key", hint: "the key of the provider", isNeeded: true, isSecret: true },
  { name: "models", hint: "names with commas between, such as gpt-4o,o3", isNeeded: true },
  { name: "group", hint: "groups that may use it; empty = default" },
  { name: "base url", hint: "the address of the provider; empty = the usual one" },
  { name: "other", hint: "region or version, for types that need one" },
  { name: "priority", hint: `a whole number from ${LOWEST_PRIORITY}; empty = 0` },
  { name: "weight", hint: "a whole number from 0; empty = 0" },
  { name: "tag", hint: "a word that several channels share" },
];

export function createsChannel(client: Client): Creates {
  return {
    title: "Create a channel",
    fields: CHANNEL_FIELDS,
    create: (values) =>
      naming(async () => {
        const { name = "", key = "", models = "", group = "default", other, tag, "base url": base_url } = values;
        const type = await readField("type", () => resolveChannelType(client, values["type"] ?? ""));
        const priority = numberIn(values, "priority", LOWEST_PRIORITY);
        const weight = numberIn(values, "weight", 0);
        const extra = Object.entries({ base_url, other, tag, priority, weight }).filter(([, one]) => one !== undefined);
        await client.call(channelCreate, {
          body: { type, name, key, models, group, ...Object.fromEntries(extra) },
        });
        return { notice: `Created channel ${name}; t tests it.` };
      }),
  };
}

function numberIn(values: Values, field: string, least: number): number | undefined {
  const text = values[field];
  if (text === undefined) return undefined;
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw new FieldProblem(field, `${field} ${text} does not fit`, `write a whole number from ${least}`);
}

const TOKEN_FIELDS: Fields = [
  { name: "name", hint: "what uses it, such as laptop", isNeeded: true },
  { name: "quota", hint: "5usd, 500000 or unlimited; empty = unlimited" },
  { name: "expires", hint: "never, 30d, 12h or 2027-01-31; empty = never" },
  { name: "models", hint: "names with commas between; empty = all" },
  { name: "group", hint: "empty = that of the user" },
  { name: "addresses", hint: "of clients, such as 10.0.0.0/8; empty = all" },
];

export function createsToken(client: Client, quotaPerUnit: number): Creates {
  return {
    title: "Create a token",
    fields: TOKEN_FIELDS,
    create: (values) =>
      naming(async () => {
        const { name = "", quota = "unlimited", expires = "never", models, group = "", addresses = "" } = values;
        const isUnlimited = quota === "unlimited";
        const amount = isUnlimited ? 0 : await readField("quota", () => parseQuota(quota, quotaPerUnit));
        const until = await readField("expires", () => parseExpiry(expires, Math.floor(Date.now() / 1000)));
        const { data } = await client.call(tokenCreate, {
          body: {
            name,
            group,
            unlimited_quota: isUnlimited,
            remain_quota: amount,
            expired_time: until,
            model_limits_enabled: models !== undefined,
            model_limits: models ?? "",
            allow_ips: addresses.split(/[\s,]+/).join("\n"),
          },
        });
        return { notice: `Created token ${name}.`, secret: `sk-${data.key}` };
      }),
  };
}

const CODE_FIELDS: Fields = [
  { name: "name", hint: "what the codes are for", isNeeded: true },
  { name: "quota", hint: "the value of a code, 5usd or 500000", isNeeded: true },
  { name: "count", hint: "how many codes; empty = 1" },
];

export function createsCodes(client: Client, quotaPerUnit: number): Creates {
  return {
    title: "Create redemption codes",
    fields: CODE_FIELDS,
    create: (values) =>
      naming(async () => {
        const { name = "", quota = "" } = values;
        const each = await readField("quota", () => parseQuota(quota, quotaPerUnit, "quota"));
        const count = numberIn(values, "count", 1) ?? 1;
        const { data } = await client.call(redemptionCreate, { body: { name, quota: each, count } });
        return { notice: `Created ${data.length === 1 ? "a code" : `${data.length} codes`}.`, secret: data.join("\n") };
      }),
  };
}

const OPTION_FIELDS: Fields = [
  { name: "key", hint: "the name of an option, such as SystemName", isNeeded: true },
  { name: "value", hint: "its value; JSON where it is a table" },
];

export function setsOption(client: Client): Creates {
  return {
    title: "Set an option",
    fields: OPTION_FIELDS,
    create: (values) =>
      naming(async () => {
        const { key = "", value = "" } = values;
        if (!isOptionKey(key)) {
          const near = nearest(key, OPTION_KEYS);
          const cure = near === undefined ? "list them with :options" : `did you mean ${near}?`;
          throw new FieldProblem("key", `there is no option ${key}`, cure);
        }
        await client.call(optionUpdate, { body: { key, value } });
        return { notice: `${key} is set.` };
      }, "value"),
  };
}

const USER_FIELDS: Fields = [
  { name: "username", hint: "the name to sign in with", isNeeded: true },
  { name: "password", hint: "of 8 letters or more", isNeeded: true, isSecret: true },
  { name: "name", hint: "how lists call the user; empty = the username" },
  { name: "role", hint: "user or administrator; empty = user" },
];

export function createsUser(client: Client): Creates {
  return {
    title: "Create a user",
    fields: USER_FIELDS,
    create: (values) =>
      naming(async () => {
        const { username = "", password = "", name = username, role: word = "user" } = values;
        const role = word === "user" ? ROLE.user : word === "administrator" ? ROLE.admin : undefined;
        if (role === undefined)
          throw new FieldProblem("role", `there is no role ${word}`, "write user or administrator");
        await client.call(userCreate, { body: { username, password, display_name: name, role } });
        return { notice: `Created user ${username}.` };
      }),
  };
}

const FIELD_BY_MESSAGE: Readonly<Partial<Record<MessageKey, string>>> = {
  channel_name_or_key_missing: "name",
  channel_models_missing: "models",
  model_name_too_long: "models",
  channel_type_unknown: "type",
  region_missing: "other",
  region_default_missing: "other",
  token_name_too_long: "name",
  quota_invalid: "quota",
  token_group_not_permitted: "group",
  ip_range_invalid: "addresses",
  code_name_invalid: "name",
  code_quota_invalid: "quota",
  code_count_too_small: "count",
  code_count_too_large: "count",
  username_taken: "username",
  username_invalid: "username",
  password_too_short: "password",
  password_too_long: "password",
  user_create_role_too_high: "role",
};

/** Assigns a refusal to the form field that it is about; `otherwise` is the field for refusals that name none. */
async function naming(create: () => Promise<Made>, otherwise = ""): Promise<Made> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const named = error.field?.replaceAll("_", " ") ?? (error.key && FIELD_BY_MESSAGE[error.key]);
    throw new FieldProblem(named ?? otherwise, formatErrorMessage(error), findHint(error) ?? "");
  }
}
