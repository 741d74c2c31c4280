import { Redemption } from "../billing/redemptions.ts";
import { Channel } from "../channels/channels.ts";
import { Token } from "../accounts/tokens.ts";
import { User } from "../accounts/users.ts";
import { REASONS } from "../core/reasons.ts";

/**
 * Members that consoles of compatible gateways send in addition to those of a call. All other unknown members are
 * refused: otherwise a misspelt member would be a write that reports success and changes nothing.
 */
export interface CompatibleMembers {
  /**
   * Members of the row that a form was loaded with and sends back; those that the call does not change are removed,
   * however old they are.
   */
  readonly row?: readonly string[];
  /** Members of features that do not exist here: removed if blank, refused otherwise. Texts are defaults of a form. */
  readonly blank?: Readonly<Record<string, readonly unknown[]>>;
  /** Members without meaning for any server. */
  readonly ignored?: readonly string[];
  /** The member that contains the form, if a console wraps it. */
  readonly wrapped?: string;
}

const userRow = Object.keys(User.shape);
const tokenRow = Object.keys(Token.shape);
const redemptionRow = Object.keys(Redemption.shape);
const channelRow = Object.keys(Channel.shape);

const NOTHING: readonly unknown[] = [];
const laterUser = {
  remark: NOTHING,
  setting: NOTHING,
  stripe_customer: NOTHING,
  discord_id: NOTHING,
  sidebar_modules: NOTHING,
  language: NOTHING,
};
const laterToken = { backup_group: NOTHING, cross_group_retry: NOTHING };
const laterChannel = {
  settings: NOTHING,
  remark: NOTHING,
  channel_info: NOTHING,
  test_models: NOTHING,
  multi_key_mode: ["random"],
};

/** The members by the name of the call. */
export const COMPATIBLE_MEMBERS: Readonly<Record<string, CompatibleMembers>> = {
  login: { ignored: ["remember"], blank: { turnstile: NOTHING } },
  register: { blank: { wechat_verification_code: NOTHING, turnstile: NOTHING } },
  setup: { ignored: ["usageMode"] },
  selfUpdate: { row: userRow, blank: laterUser },
  userCreate: { blank: laterUser },
  userUpdate: { row: userRow, blank: laterUser },
  tokenCreate: { row: tokenRow, blank: laterToken },
  tokenSetStatus: { row: tokenRow, blank: laterToken },
  tokenUpdate: { row: tokenRow, blank: laterToken },
  redemptionCreate: { row: redemptionRow, blank: { expired_time: NOTHING } },
  redemptionSetStatus: { row: redemptionRow, blank: { expired_time: NOTHING } },
  redemptionUpdate: { row: redemptionRow, blank: { expired_time: NOTHING } },
  channelCreate: { row: channelRow, blank: laterChannel, wrapped: "channel" },
  channelUpdate: { row: channelRow, blank: laterChannel },
  channelTagUpdate: { blank: { param_override: NOTHING, header_override: NOTHING } },
  channelModelsFor: { blank: { settings: NOTHING, header_override: NOTHING } },
};

/** A member that a call does not accept, and why. */
export interface MemberFault {
  readonly path: readonly string[];
  readonly reason: string;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the body of a call without the members that compatible consoles add, or the first such member that cannot be
 * removed.
 */
export function withoutCompatibleMembers(
  call: string,
  body: unknown,
  known: readonly string[],
): { readonly body: unknown } | { readonly fault: MemberFault } {
  const list = Object.hasOwn(COMPATIBLE_MEMBERS, call) ? COMPATIBLE_MEMBERS[call] : undefined;
  if (!list || !isObject(body)) return { body };
  const cleaned = withoutListed(list, body, known);
  const { wrapped } = list;
  if ("fault" in cleaned || wrapped === undefined) return cleaned;
  const inner = cleaned.body[wrapped];
  if (!isObject(inner)) return cleaned;
  const form = withoutListed(
    list,
    inner,
    known.filter((name) => name !== wrapped),
  );
  if ("fault" in form) return { fault: { path: [wrapped, ...form.fault.path], reason: form.fault.reason } };
  return { body: { ...cleaned.body, [wrapped]: form.body } };
}

function withoutListed(
  list: CompatibleMembers,
  body: Members,
  known: readonly string[],
): { readonly body: Members } | { readonly fault: MemberFault } {
  const listed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (value === null || name === "__proto__") continue;
    const reason = known.includes(name) ? undefined : findMemberFault(list, body, name);
    if (reason === "taken off") continue;
    if (reason !== undefined) return { fault: { path: [name], reason } };
    listed[name] = value;
  }
  return { body: listed };
}

/** Returns undefined if the list does not contain the member; the schema then refuses it. */
function findMemberFault(
  { row, blank = {}, ignored = [] }: CompatibleMembers,
  body: Members,
  name: string,
): string | undefined {
  if (ignored.includes(name)) return "taken off";
  const neutral = Object.hasOwn(blank, name) ? blank[name] : undefined;
  if (neutral) return isBlank(body[name]) || neutral.includes(body[name]) ? "taken off" : REASONS.unsupported;
  return row?.includes(name) ? "taken off" : undefined;
}

/**
 * Returns true for empty, off or zero, also as JSON text and member by member: this is what a form sends for an empty
 * field.
 */
export function isBlank(value: unknown): boolean {
  if (typeof value === "string") return value.trim() === "" || isBlankJson(value);
  if (isObject(value)) return Object.values(value).every(isBlank);
  if (Array.isArray(value)) return value.every(isBlank);
  return value === undefined || value === null || value === false || value === 0;
}

function isBlankJson(text: string): boolean {
  if (!/^\s*(?:[{[]|null\s*$)/.test(text)) return false;
  try {
    return isBlank(JSON.parse(text) as unknown);
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
