import type { AuditRow } from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import { CALLS, isCall, type CallWords } from "./calls.ts";

/** Suffixes of call names, each with its verb; the longest match wins. */
const VERBS = {
  Create: "didCreate",
  Update: "didUpdate",
  Delete: "didDelete",
  Copy: "didCopy",
  Test: "didTest",
  Manage: "didManage",
  Rename: "didRename",
  SetStatus: "didSwitch",
  TopUp: "didTopUp",
} as const;

/** Prefixes of call names, each with its noun. */
const NOUNS = {
  accessToken: "nounAccessToken",
  batch: "nounBatch",
  cache: "nounCache",
  budget: "nounBudget",
  channel: "nounChannel",
  file: "nounFile",
  identityProvider: "nounProvider",
  option: "nounOption",
  ownBudget: "nounBudget",
  passkey: "nounPasskey",
  redemption: "nounRedemption",
  savedReport: "nounReport",
  serviceAccount: "nounServiceAccount",
  serviceToken: "nounServiceToken",
  team: "nounTeam",
  teamInvitation: "nounTeamInvitation",
  teamMember: "nounTeamMember",
  teamSavedReport: "nounReport",
  teamToken: "nounTeamKey",
  token: "nounToken",
  operatorAccount: "nounOperatorAccount",
  operatorToken: "nounOperatorToken",
  operatorWebhook: "nounWebhook",
  teamWebhook: "nounWebhook",
  webhook: "nounWebhook",
  user: "nounUser",
} as const;

type Verb = (typeof VERBS)[keyof typeof VERBS];
type Noun = (typeof NOUNS)[keyof typeof NOUNS];

interface Parts {
  readonly verb: Verb;
  readonly noun: Noun;
  /** The target's name, or else its number; "" if the call has no single target. */
  readonly name: string;
}

export type Sentence = Parts | { readonly words: CallWords; readonly name: string };

function longest<T extends string>(names: readonly T[], fits: (name: T) => boolean): T | undefined {
  return names.filter(fits).toSorted((a, b) => b.length - a.length)[0];
}

function member(text: string | null): string | undefined {
  const { name, username } = parseObject(text ?? "") ?? {};
  return [name, username].find((found): found is string => typeof found === "string" && found !== "");
}

/** Describes a call as the parts of a sentence; undefined for calls without a description. */
export function buildSentence(
  row: Pick<AuditRow, "action" | "target" | "old_value" | "new_value">,
): Sentence | undefined {
  const named = member(row.new_value) ?? member(row.old_value);
  const name = named ?? row.target.split(" ").slice(1).join(" ");
  if (isCall(row.action)) return { words: CALLS[row.action], name };
  const noun = longest(Object.keys(NOUNS) as (keyof typeof NOUNS)[], (name) => row.action.startsWith(name));
  const verb = longest(Object.keys(VERBS) as (keyof typeof VERBS)[], (name) => row.action.endsWith(name));
  if (noun === undefined || verb === undefined) return undefined;
  return { verb: VERBS[verb], noun: NOUNS[noun], name };
}

/** Returns the parts of a target such as `budget 5`; without a noun if its kind has no word of its own. */
export function parseTarget(target: string): { readonly noun: Noun | undefined; readonly name: string } {
  const [kind = "", ...rest] = target.split(" ");
  return { noun: isNoun(kind) ? NOUNS[kind] : undefined, name: rest.join(" ") };
}

function isNoun(kind: string): kind is keyof typeof NOUNS {
  return Object.hasOwn(NOUNS, kind);
}
