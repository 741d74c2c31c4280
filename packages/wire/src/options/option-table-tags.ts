import { option } from "./option-definition.ts";
import { integerType } from "./option-kinds.ts";
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
  TagValuesMost: option(integerType(0, 10_000), "500", [
    "relay",
    "Values of a tag, and models, of one account and day that have sums of their own in reports over long periods; further ones are summed as ~other.",
  ]),
  EndUsersMost: option(integerType(0, 100_000), "5000", ["relay", "The same for end users."]),
} as const;
