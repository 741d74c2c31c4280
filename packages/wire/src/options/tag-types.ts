import { REASONS } from "../core/reasons.ts";
import { TagPolicy } from "../core/tag-policy.ts";
import { END_USER_TARGET, isTagKey } from "../core/tags.ts";
import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseJson } from "./read-json.ts";

const MAX_HEADERS = 16;
const HEADER_FORM = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
/** Headers with secrets, which no log row may contain, and the gateway's own. */
const REFUSED_HEADER =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-fairway-.*|.*api-?key|.*secret.*|.*password.*|mj-api-secret)$/;

const OWN_REASONS: ReadonlySet<string> = new Set(Object.values(REASONS));

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}

/** JSON object: the keys of tags with their rules, and what happens to end users. */
export const tagPolicyType: OptionType<TagPolicy> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const read = TagPolicy.safeParse(parsed);
    if (read.success) return { isValid: true, value: read.data, text };
    const [issue] = read.error.issues;
    const path = issue?.path.map(String).join(".") || "it";
    const reason = OWN_REASONS.has(issue?.message ?? "") ? issue?.message : "is not valid";
    return broken(`a policy such as {"keys":{"app":{"values":["shop","crm"]}}}; ${path} ${reason}`);
  },
};

/** A header in lower case, and the key of the tag that it sets, or `~end_user`. */
export type TagHeaders = Readonly<Record<string, string>>;

/** JSON object: names of headers, and the key of the tag that each of them sets. */
export const tagHeadersType: OptionType<TagHeaders> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const headers = Object.create(null) as Record<string, string>;
    for (const [name, target] of Object.entries(parsed)) {
      const fault = findFault(name, target);
      if (fault !== undefined) return broken(`headers such as {"Helicone-Property-App":"app"}; ${name} ${fault}`);
      headers[name.toLowerCase()] = String(target);
    }
    if (Object.keys(headers).length > MAX_HEADERS) return broken(`at most ${MAX_HEADERS} headers`);
    return { isValid: true, value: headers, text };
  },
};

function findFault(name: string, target: unknown): string | undefined {
  if (!HEADER_FORM.test(name)) return "is no name of a header";
  if (REFUSED_HEADER.test(name.toLowerCase())) return "holds a secret or is read anyway";
  if (typeof target !== "string" || (target !== END_USER_TARGET && !isTagKey(target)))
    return `must name the key of a tag or ${END_USER_TARGET}`;
  return undefined;
}
