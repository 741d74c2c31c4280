import { option } from "./option-definition.ts";
import { tagHeadersType, tagPolicyType } from "./tag-types.ts";

/** Options for tags and end users of calls. */
export const TAG_OPTIONS = {
  TagPolicy: option(tagPolicyType, "{}", [
    "relay",
    "Which tags of calls are stored, by key, and whether the end user is: off, client (if the client names one) or required. Teams and tokens may have their own rules.",
  ]),
  TagHeaders: option(tagHeadersType, "{}", [
    "relay",
    "Headers of other products that set a tag, by name: the key of the tag, or ~end_user. Of a list, the first word counts.",
  ]),
} as const;
